package ferro.training.agreement;

import ferro.group.Codec;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.StringJoiner;

/** Compares what each rank has, once, where something is made that all ranks must make alike. */
public final class RankTexts {
    private RankTexts() {}

    /**
     * Compares a text of all ranks.
     *
     * @param what is compared, such as {@code names of averages}
     * @throws IllegalArgumentException if they differ, with the same text on all ranks; the group goes on
     */
    public static void requireEqual(ProcessGroup group, String what, String own) {
        List<String> texts = group.objects(Codec.utf8()).allGather(own);
        if (texts.stream().anyMatch(text -> !text.equals(texts.get(0)))) {
            StringJoiner found = new StringJoiner(", ");
            for (int rank = 0; rank < texts.size(); rank++) {
                found.add("rank " + rank + " " + texts.get(rank));
            }
            throw new IllegalArgumentException(what + " differ: " + found + ": give the same on all " + texts.size()
                    + " ranks, in the same order");
        }
    }
}

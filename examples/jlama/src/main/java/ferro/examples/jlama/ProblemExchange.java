package ferro.examples.jlama;

import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.Optional;

/** The checks of all ranks, after which either all ranks go on or all ranks stop. */
final class ProblemExchange {
    private static final String NO_PROBLEM = "";

    private final GroupObjects<String> texts;

    ProblemExchange(ProcessGroup group) {
        texts = group.objects(Codec.utf8());
    }

    /**
     * Returns the first problem of a rank, the same on all ranks; empty if no rank has one. The text has the rank, unless all
     * ranks have the same problem.
     */
    Optional<String> firstProblem(Optional<String> own) {
        List<String> all = texts.allGather(own.orElse(NO_PROBLEM));
        boolean isCommon = all.stream().distinct().count() == 1;
        for (int rank = 0; rank < all.size(); rank++) {
            if (!all.get(rank).equals(NO_PROBLEM)) {
                return Optional.of((isCommon ? "" : "rank " + rank + ": ") + all.get(rank));
            }
        }
        return Optional.empty();
    }

    /** Returns which rank has something else than rank 0, the same on all ranks; empty if all ranks have the same. */
    Optional<String> firstDifference(String what, String own) {
        List<String> all = texts.allGather(own);
        for (int rank = 1; rank < all.size(); rank++) {
            if (!all.get(rank).equals(all.get(0))) {
                return Optional.of("rank " + rank + " has another " + what + " than rank 0: all ranks need the same");
            }
        }
        return Optional.empty();
    }
}

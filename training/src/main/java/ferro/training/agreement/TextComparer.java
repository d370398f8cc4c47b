package ferro.training.agreement;

import ferro.group.Codec;
import ferro.group.ProcessGroup;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;

/**
 * Comparison of a text on all ranks. Ranks compare digests first, and exchange the texts only if the digests differ.
 * Equal texts of any length therefore cost one all-gather of 32 bytes per rank. Each call is a collective.
 */
public final class TextComparer {
    private static final String DIGEST = "SHA-256";
    private static final char END = '\0';

    private TextComparer() {}

    /**
     * Checks that all ranks have the same text. If the texts differ, throws an exception that shows the texts of all
     * ranks.
     *
     * @param what name of the text, such as {@code names of averages}
     * @param own text of this rank
     * @throws IllegalArgumentException if the texts differ, with the same message on all ranks; the group stays usable
     */
    public static void requireEqual(ProcessGroup group, String what, String own) {
        List<String> texts = differing(group, what, own);
        if (!texts.isEmpty()) {
            throw new IllegalArgumentException(what + " differ: " + byRank(texts, text -> text)
                    + ": use the same values on all " + texts.size() + " ranks, in the same order");
        }
    }

    /**
     * Compares a text on all ranks.
     *
     * @param what name of the text, without the character 0
     * @param own text of this rank
     * @return the texts by rank if they differ; otherwise an empty list
     * @throws IllegalArgumentException if ranks give different names, with the same message on all ranks; the group
     *     stays usable
     */
    public static List<String> differing(ProcessGroup group, String what, String own) {
        String text = what + END + own;
        byte[] digest = digest(text);
        byte[] all = new byte[digest.length * group.worldSize()];
        group.allGather(digest, all);
        boolean isEqual = true;
        for (int at = 0; at < all.length; at++) {
            isEqual &= all[at] == all[at % digest.length];
        }
        return isEqual ? List.of() : values(what, group.objects(Codec.utf8()).allGather(text));
    }

    private static List<String> values(String what, List<String> texts) {
        if (texts.stream().anyMatch(text -> !text.startsWith(what + END))) {
            throw new IllegalArgumentException("ranks compare different things: "
                    + byRank(texts, text -> text.substring(0, text.indexOf(END)))
                    + ": make the same calls in the same order on all " + texts.size() + " ranks");
        }
        return texts.stream().map(text -> text.substring(what.length() + 1)).toList();
    }

    private static String byRank(List<String> texts, Function<String, String> shown) {
        StringJoiner found = new StringJoiner(", ");
        for (int rank = 0; rank < texts.size(); rank++) {
            found.add("rank " + rank + " " + shown.apply(texts.get(rank)));
        }
        return found.toString();
    }

    private static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance(DIGEST).digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException lacking) {
            throw new IllegalStateException(
                    "this Java runtime has no " + DIGEST + ", which every Java runtime must have", lacking);
        }
    }
}

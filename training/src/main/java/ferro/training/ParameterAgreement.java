package ferro.training;

import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;

/**
 * Compares what all ranks have built buckets or optimizers of: digests first, and texts only where these differ, so that equal lists cost one
 * all-gather of 32 bytes.
 */
final class ParameterAgreement {
    private static final String DIGEST = "SHA-256";
    private static final String LINE_END = "\u0000";
    private static final int LONGEST_VALUE = 200;
    /** Bytes in which a rank says how it differs: two values of up to three bytes per character, and words. */
    private static final int ROOM = 2048;

    private static final byte EQUAL = 0;
    private static final byte DIFFERS = 1;
    private static final byte INVALID = 2;

    private final ProcessGroup group;
    private final String what;
    private final List<String> lines;
    private final String invalid;

    private ParameterAgreement(ProcessGroup group, String what, List<String> lines, String invalid) {
        this.group = group;
        this.what = what;
        this.lines = lines;
        this.invalid = invalid;
    }

    /**
     * Compares lines, on all ranks of a group. A rank that has found its own ones invalid takes part, so that nobody waits for it.
     *
     * @param what what ranks build, in the plural
     * @param lines what must be equal, each with what it is: {@code parameter 3 is "w" f32[4]}
     * @param invalid why this rank cannot go on, empty if it can
     * @throws IllegalArgumentException if ranks differ; with the same text on all ranks
     */
    static void compare(ProcessGroup group, String what, List<String> lines, String invalid) {
        new ParameterAgreement(group, what, lines, invalid).compare();
    }

    private void compare() {
        byte[] text = String.join(LINE_END, lines).getBytes(StandardCharsets.UTF_8);
        byte[] digest = digest(text);
        byte[] all = new byte[digest.length * group.worldSize()];
        group.allGather(digest, all);
        boolean equal = true;
        for (int rank = 0; rank < group.worldSize(); rank++) {
            equal &= Arrays.equals(all, rank * digest.length, (rank + 1) * digest.length, digest, 0, digest.length);
        }
        if (!equal) {
            throw new IllegalArgumentException(worst(told(difference(ofRankZero(text)))));
        }
    }

    private byte[] digest(byte[] text) {
        try {
            MessageDigest digest = MessageDigest.getInstance(DIGEST);
            digest.update(invalid.getBytes(StandardCharsets.UTF_8));
            return digest.digest(text);
        } catch (NoSuchAlgorithmException lacking) {
            throw new IllegalStateException(
                    "this Java runtime has no " + DIGEST + ", which every one must have", lacking);
        }
    }

    private List<String> ofRankZero(byte[] own) {
        int[] length = {own.length};
        group.broadcast(length, 0);
        byte[] text = group.rank() == 0 ? own : new byte[length[0]];
        group.broadcast(text, 0);
        return List.of(new String(text, StandardCharsets.UTF_8).split(LINE_END, -1));
    }

    /** Returns the first byte and the text with which this rank says how it differs. */
    private byte[] difference(List<String> expected) {
        byte kind = invalid.isEmpty() ? EQUAL : INVALID;
        String text = invalid;
        for (int line = 0; kind == EQUAL && line < Math.max(lines.size(), expected.size()); line++) {
            String mine = line < lines.size() ? lines.get(line) : "nothing more";
            String other = line < expected.size() ? expected.get(line) : "nothing more";
            if (!mine.equals(other)) {
                kind = DIFFERS;
                text = "on rank 0 " + shortened(other) + ", on rank " + group.rank() + " " + shortened(mine);
            }
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] room = new byte[ROOM];
        room[0] = kind;
        System.arraycopy(bytes, 0, room, 1, Math.min(bytes.length, ROOM - 1));
        return room;
    }

    private static String shortened(String value) {
        return value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE) + "...";
    }

    private ByteBuffer told(byte[] mine) {
        byte[] all = new byte[ROOM * group.worldSize()];
        group.allGather(mine, all);
        return ByteBuffer.wrap(all);
    }

    /** Returns what the first rank says that is invalid, else what the first says that differs; the same on all ranks. */
    private String worst(ByteBuffer told) {
        for (byte kind : new byte[] {INVALID, DIFFERS}) {
            for (int rank = 0; rank < group.worldSize(); rank++) {
                if (told.get(rank * ROOM) == kind) {
                    String text = new String(told.array(), rank * ROOM + 1, ROOM - 1, StandardCharsets.UTF_8);
                    int end = text.indexOf('\0');
                    return text(kind, rank, end < 0 ? text : text.substring(0, end));
                }
            }
        }
        return "ranks build " + what + " of different parameters or settings, found by rank " + group.rank();
    }

    private String text(byte kind, int rank, String said) {
        return kind == INVALID
                ? "rank " + rank + " of " + group.worldSize() + " cannot build " + what + ": " + said
                : "ranks build " + what + " of different parameters or settings: " + said + "; all " + group.worldSize()
                        + " ranks need the same ones in the same order";
    }
}

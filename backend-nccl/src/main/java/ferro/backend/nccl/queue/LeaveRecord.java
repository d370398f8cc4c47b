package ferro.backend.nccl.queue;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;

/**
 * Record that a rank writes when it leaves a group. It says how far the rank has come, so that the others know which of
 * their calls it is still in and which it will never make.
 *
 * @param rank  rank that leaves
 * @param last  sequence of its last collective
 * @param sent  number of messages that it has sent, index = destination rank
 * @param taken number of messages that it has received, index = source rank
 */
public record LeaveRecord(int rank, long last, long[] sent, long[] taken) {
    private static final int FIELDS = 4;

    byte[] encoded() {
        String text = rank + "\n" + last + "\n" + list(sent) + "\n" + list(taken);
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String list(long[] counts) {
        StringBuilder text = new StringBuilder();
        for (long count : counts) {
            text.append(count).append(',');
        }
        return text.toString();
    }

    /** Decodes a record that another rank wrote; empty if it is something else. */
    static Optional<LeaveRecord> decoded(byte[] bytes, int worldSize) {
        String[] fields = new String(bytes, StandardCharsets.UTF_8).split("\n");
        if (fields.length != FIELDS) {
            return Optional.empty();
        }
        try {
            LeaveRecord read = new LeaveRecord(
                    Integer.parseInt(fields[0]), Long.parseLong(fields[1]), counts(fields[2]), counts(fields[3]));
            boolean fits = read.rank >= 0
                    && read.rank < worldSize
                    && read.sent.length == worldSize
                    && read.taken.length == worldSize;
            return fits ? Optional.of(read) : Optional.empty();
        } catch (NumberFormatException foreign) {
            return Optional.empty();
        }
    }

    private static long[] counts(String text) {
        return Arrays.stream(text.split(",")).mapToLong(Long::parseLong).toArray();
    }

    /** Returns whether the rank that left has already made this call, so that the call may still succeed. */
    boolean covers(NcclWork work, int self) {
        if (!work.title().isMessage()) {
            return last >= work.number();
        }
        return work.title().peer() != rank || counted(work, self) >= work.number();
    }

    private long counted(NcclWork work, int self) {
        return work.title().operation() == NcclOperation.RECV ? sent[self] : taken[self];
    }

    /** Returns the failure of a call that the rank that left has not made. */
    Failure failureOf(NcclWork work, CommIdentity reader) {
        String text;
        int self = reader.rank();
        if (!work.title().isMessage()) {
            text = "rank " + rank + " left after seq " + last + "; this call is seq " + work.number();
        } else {
            boolean receives = work.title().operation() == NcclOperation.RECV;
            text = "rank " + rank + " left after " + counted(work, self) + " messages "
                    + (receives ? "to" : "taken from") + " rank " + self + "; this call is for message "
                    + work.number();
        }
        return reader.failure(Code.PEER_LOST, Set.of(rank), text + " (the rank has closed the group)", null);
    }
}

package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The reason why a group has ended. There is one per rank, the first failure, and every call reports it.
 *
 * @param code     kind
 * @param culprits ranks to blame, comma-separated, empty if unknown
 * @param text     what happened, without the place
 * @param cause    first cause or null
 */
public record GroupFailure(Code code, String culprits, String text, Throwable cause) {
    private static final int FIELDS = 3;

    /** Returns the failure that an exception describes. */
    public static GroupFailure of(FerroException thrown) {
        return new GroupFailure(thrown.code(), list(thrown.where().culprits()), thrown.getMessage(), thrown);
    }

    /**
     * Returns the failure of the group that follows from a native failure or one around a native call. A failure that
     * says only that another rank is lost names no rank; every other native failure is this rank's own.
     */
    public static GroupFailure natively(Code code, String text, Throwable thrown, int self) {
        boolean elsewhere = hasResult(thrown, NcclResult.REMOTE_ERROR) || hasResult(thrown, NcclResult.SYSTEM_ERROR);
        boolean own = !elsewhere && (code == Code.NATIVE || code == Code.RESOURCE || code == Code.INTERRUPTED);
        return new GroupFailure(code, own ? Integer.toString(self) : "", text, thrown);
    }

    /** Returns whether NCCL may have found that the data of another rank does not fit the call of this rank. */
    static boolean mayBeDifferentCalls(Throwable thrown) {
        return hasResult(thrown, NcclResult.INVALID_USAGE);
    }

    /**
     * Returns whether a native failure has this result. Checks the causes too: a call on a communicator that is already
     * broken fails with the error that broke it.
     */
    private static boolean hasResult(Throwable thrown, NcclResult result) {
        boolean found = false;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            found |= cause instanceof NcclException nccl && nccl.result().equals(result);
        }
        return found;
    }

    /** Returns the same failure with a cause. */
    GroupFailure causedBy(Throwable thrown) {
        return new GroupFailure(code, culprits, text, thrown);
    }

    /** Returns the failure of a group when the JVM of a rank exits during a call, in the words of the other back ends. */
    public static GroupFailure exits(int self, String call) {
        String text = "the JVM exits while rank " + self + " is in " + call
                + ": its main method has returned, or the program has called System.exit";
        return new GroupFailure(Code.ABORTED, Integer.toString(self), text, null);
    }

    /** Returns the failure of a group when a signal ends the JVM of a rank, in the words of the other back ends. */
    public static GroupFailure endedBySignal(int self, String signal, String call, long ended) {
        String where =
                call.isEmpty() ? ended == 0 ? " before its first collective" : " after seq " + ended : " in " + call;
        String text = "rank " + self + " was ended by shutdown (" + signal + ")" + where;
        return new GroupFailure(Code.ABORTED, Integer.toString(self), text, null);
    }

    /** Returns the failure that all ranks agree on: an interrupt of one rank is an abort for all. */
    GroupFailure agreed() {
        return code == Code.INTERRUPTED ? new GroupFailure(Code.ABORTED, culprits, text, cause) : this;
    }

    /** Makes the exception of a call that this failure ends or prevents. */
    public FerroException exception(Where where, String during) {
        Where blamed = where.blaming(ranks(culprits));
        String message = during + ": " + text;
        if (code != Code.MISMATCH && cause instanceof NcclException nccl) {
            return new NcclException(blamed, nccl.result(), nccl.lastError(), message, nccl);
        }
        if (cause instanceof CudaException cuda) {
            return new CudaException(blamed, cuda.cudaCode(), cuda.call(), message, cuda);
        }
        return new FerroException(code, blamed, message, cause);
    }

    /** Makes the exception of a call that comes after the failure; {@code first} is what the failed call threw. */
    FerroException later(Where where, String during, FerroException first) {
        String message = during + ": communicator broken by earlier error: " + text + "; close it and join again";
        return new FerroException(code, where.blaming(ranks(culprits)), message, first == null ? cause : first);
    }

    /** Encodes the part of the failure that the other ranks need. */
    public byte[] encoded() {
        return (code + "\n" + culprits + "\n" + text).getBytes(StandardCharsets.UTF_8);
    }

    private static String list(Collection<Integer> ranks) {
        return ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Returns the ranks that are named. Text that is not a number is ignored. */
    public static List<Integer> ranks(String culprits) {
        return Stream.of(culprits.split(","))
                .map(String::strip)
                .filter(rank -> rank.matches("[0-9]{1,9}"))
                .map(Integer::valueOf)
                .distinct()
                .sorted()
                .toList();
    }

    /**
     * Decodes a failure that another rank wrote; empty if it is something else. Ranks outside the world are dropped
     * from the culprits.
     */
    public static Optional<GroupFailure> decoded(byte[] bytes, int worldSize) {
        String[] fields = new String(bytes, StandardCharsets.UTF_8).split("\n", FIELDS);
        if (fields.length < FIELDS) {
            return Optional.empty();
        }
        for (Code code : Code.values()) {
            if (code.name().equals(fields[0])) {
                List<Integer> blamed = ranks(fields[1]).stream()
                        .filter(rank -> rank < worldSize)
                        .toList();
                return Optional.of(new GroupFailure(code, list(blamed), fields[2], null));
            }
        }
        return Optional.empty();
    }
}

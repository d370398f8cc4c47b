package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.control.failure.Failure;
import java.util.Set;

/**
 * Creates the failures of groups over NCCL from exceptions of native calls, and creates the exceptions for these
 * failures.
 */
public final class NcclFailureFactory {
    private NcclFailureFactory() {}

    /** Returns the failure that an exception describes. {@code self} is this rank. */
    public static Failure of(FerroException thrown, int self) {
        return new Failure(thrown.code(), self, -1, thrown.where().culprits(), thrown.getMessage(), thrown);
    }

    /**
     * Returns the group's failure for an exception of a native call, or of the code around the call. If the exception
     * only shows that an unknown other rank is lost, the failure blames no rank. Every other native failure blames this
     * rank.
     */
    public static Failure natively(Code code, String text, Throwable thrown, int self) {
        boolean elsewhere = hasResult(thrown, NcclResult.REMOTE_ERROR) || hasResult(thrown, NcclResult.SYSTEM_ERROR);
        boolean own = !elsewhere && (code == Code.NATIVE || code == Code.RESOURCE || code == Code.INTERRUPTED);
        return new Failure(code, self, -1, own ? Set.of(self) : Set.of(), text, thrown);
    }

    /** Returns whether NCCL may have thrown because another rank has made a different call. */
    static boolean mayBeDifferentCalls(Throwable thrown) {
        return hasResult(thrown, NcclResult.INVALID_USAGE);
    }

    /**
     * Returns whether an exception or one of its causes has the given result of NCCL. If a call fails because the
     * communicator is broken, one of the causes is the error that broke the communicator.
     */
    private static boolean hasResult(Throwable thrown, NcclResult result) {
        boolean found = false;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            found |= cause instanceof NcclException nccl && nccl.result().equals(result);
        }
        return found;
    }

    /** Returns a copy of a failure with the given cause. */
    static Failure causedBy(Failure failure, Throwable thrown) {
        return new Failure(
                failure.code(), failure.origin(), failure.sequence(), failure.culprits(), failure.text(), thrown);
    }

    /** Creates the exception for a call that a failure has ended or prevented. */
    public static FerroException exception(Failure failure, Where where, String during) {
        Where blamed = where.blaming(failure.culprits());
        String wrong = failure.code() == Code.MISMATCH
                ? "; NCCL may have let a call succeed that differs: results since then may be wrong on any rank"
                : "";
        String wayOut = failure.code() == Code.TIMED_OUT ? "; the communicator is aborted: join again" : "";
        String message = during + ": " + text(failure, where) + wrong + wayOut;
        Throwable cause = failure.cause();
        if (failure.code() != Code.MISMATCH && cause instanceof NcclException nccl) {
            return new NcclException(blamed, nccl.result(), nccl.lastError(), message, nccl);
        }
        return cause instanceof CudaException cuda
                ? new CudaException(blamed, cuda.cudaCode(), cuda.call(), message, cuda)
                : new FerroException(failure.code(), blamed, message, cause);
    }

    /** Returns the text of a failure. If the failure is a native failure on another rank, the text names that rank. */
    private static String text(Failure failure, Where where) {
        boolean isElsewhere = failure.code() == Code.NATIVE && failure.origin() != where.rank();
        return (isElsewhere ? "rank " + failure.origin() + " ended the group: " : "") + failure.text();
    }

    /**
     * Creates the exception for a call that is made after the failure. {@code first} is the exception of the call that
     * failed.
     */
    static FerroException later(Failure failure, Where where, String during, FerroException first) {
        String message = during + ": communicator broken by earlier error: " + text(failure, where)
                + "; close it and join again";
        return new FerroException(
                failure.code(), where.blaming(failure.culprits()), message, first == null ? failure.cause() : first);
    }
}

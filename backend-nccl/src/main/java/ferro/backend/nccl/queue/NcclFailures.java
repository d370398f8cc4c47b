package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.Failure;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;

/** Failures of groups whose calls are those of NCCL: made from native failures, and thrown as exceptions. */
public final class NcclFailures {
    private NcclFailures() {}

    /** Returns the failure that an exception on a rank describes. */
    public static Failure of(FerroException thrown, int self) {
        return new Failure(thrown.code(), self, -1, thrown.where().culprits(), thrown.getMessage(), thrown);
    }

    /**
     * Returns the failure of the group that follows from a native failure or one around a native call. A failure that
     * says only that another rank is lost names no rank; every other native failure is this rank's own.
     */
    public static Failure natively(Code code, String text, Throwable thrown, int self) {
        boolean elsewhere = hasResult(thrown, NcclResult.REMOTE_ERROR) || hasResult(thrown, NcclResult.SYSTEM_ERROR);
        boolean own = !elsewhere && (code == Code.NATIVE || code == Code.RESOURCE || code == Code.INTERRUPTED);
        return new Failure(code, self, -1, own ? Set.of(self) : Set.of(), text, thrown);
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
    static Failure causedBy(Failure failure, Throwable thrown) {
        return new Failure(
                failure.code(), failure.origin(), failure.sequence(), failure.culprits(), failure.text(), thrown);
    }

    /** Returns the failure that all ranks agree on, with its cause on this rank: an interrupt of one rank is an abort for all. */
    static Failure agreed(Failure failure) {
        return failure.code() == Code.INTERRUPTED ? causedBy(failure.asSeenByOthers(), failure.cause()) : failure;
    }

    /** Makes the exception of a call that a failure ends or prevents. */
    public static FerroException exception(Failure failure, Where where, String during) {
        Where blamed = where.blaming(failure.culprits());
        String message = during + ": " + failure.text();
        Throwable cause = failure.cause();
        if (failure.code() != Code.MISMATCH && cause instanceof NcclException nccl) {
            return new NcclException(blamed, nccl.result(), nccl.lastError(), message, nccl);
        }
        if (cause instanceof CudaException cuda) {
            return new CudaException(blamed, cuda.cudaCode(), cuda.call(), message, cuda);
        }
        return new FerroException(failure.code(), blamed, message, cause);
    }

    /** Makes the exception of a call that comes after the failure; {@code first} is what the failed call threw. */
    static FerroException later(Failure failure, Where where, String during, FerroException first) {
        String message =
                during + ": communicator broken by earlier error: " + failure.text() + "; close it and join again";
        return new FerroException(
                failure.code(), where.blaming(failure.culprits()), message, first == null ? failure.cause() : first);
    }

    /** Encodes a failure for the other ranks, as the control messages of other back ends have it. */
    public static byte[] encoded(Failure failure) {
        ByteBuffer message = Abort.of(failure, 0).encoded();
        byte[] bytes = new byte[message.remaining()];
        message.get(bytes);
        return bytes;
    }

    /** Decodes a failure that another rank wrote; empty if it is something else, or names ranks that are not there. */
    public static Optional<Failure> decoded(byte[] bytes, int worldSize) {
        try {
            return ControlMessage.decode(ByteBuffer.wrap(bytes), worldSize) instanceof Abort abort
                    ? Optional.of(abort.failure())
                    : Optional.empty();
        } catch (IllegalArgumentException foreign) {
            return Optional.empty();
        }
    }
}

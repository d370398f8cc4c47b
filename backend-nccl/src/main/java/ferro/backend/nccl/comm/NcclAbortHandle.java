package ferro.backend.nccl.comm;

import java.util.Optional;

/**
 * Ends a communicator from outside, for example when another rank is known to be dead.
 *
 * <p>Any thread may use the handle at any time. If the communicator is closed, an abort does nothing. Each communicator
 * has one handle.
 */
public final class NcclAbortHandle {
    private final CommHandle handle;

    NcclAbortHandle(CommHandle handle) {
        this.handle = handle;
    }

    /**
     * Aborts the communicator. A call that is stuck in the communicator ends with {@link ferro.FerroException} ABORTED,
     * and later calls fail at once. The abort also frees the communicator. This method takes at most ten seconds.
     * Idempotent.
     *
     * <p>A failure of NCCL itself is not thrown. In this case the communicator is still in the state aborted, and the
     * abort is not repeated. {@link #abortFailure} returns the failure.
     */
    public void abort() {
        handle.abort("by its abort handle");
    }

    /** {@return whether the communicator was aborted; true as soon as an abort has begun} */
    public boolean isAborted() {
        return handle.isAborted();
    }

    /** {@return whether the communicator was closed normally; true as soon as the close has begun} */
    public boolean isClosed() {
        return handle.isClosed();
    }

    /** {@return whether the communicator can no longer be aborted; true after an abort and after a close} */
    public boolean isDefunct() {
        return handle.isAborted() || handle.isClosed();
    }

    /** {@return why the abort itself failed: a failure of NCCL, or a timeout; empty if the abort succeeded} */
    public Optional<Throwable> abortFailure() {
        return handle.abortFailure();
    }

    /** Returns rank, world size and state. */
    @Override
    public String toString() {
        String state = isAborted() ? "aborted" : isClosed() ? "closed" : "active";
        return "NcclAbortHandle[rank " + handle.identity().rank() + " of "
                + handle.identity().worldSize() + ", " + state + "]";
    }
}

package ferro.backend.nccl;

import java.util.Optional;

/**
 * Ends a communicator from outside, for example when another rank is known to be dead.
 *
 * <p>Any thread may use it, at any time, also after the communicator is closed and forgotten: it then does nothing. There is
 * one per communicator.
 */
public final class NcclAbortHandle {
    private final CommHandle handle;

    NcclAbortHandle(CommHandle handle) {
        this.handle = handle;
    }

    /**
     * Aborts: a call that is stuck in the communicator ends with {@link ferro.FerroException} ABORTED, later ones fail at
     * once. NCCL frees the communicator with it. Takes ten seconds at most; a second call does nothing.
     *
     * <p>A failure of NCCL itself is not thrown: the communicator counts as aborted all the same, nothing is tried again,
     * and {@link #abortFailure} has it.
     */
    public void abort() {
        handle.abort("by its abort handle");
    }

    /**
     * Returns whether it was aborted.
     *
     * @return true as soon as an abort has begun
     */
    public boolean isAborted() {
        return handle.isAborted();
    }

    /**
     * Returns whether it was closed in the ordinary way.
     *
     * @return true as soon as the close has begun
     */
    public boolean isClosed() {
        return handle.isClosed();
    }

    /**
     * Returns whether there is nothing left to abort.
     *
     * @return true after an abort and after a close
     */
    public boolean isDefunct() {
        return handle.isAborted() || handle.isClosed();
    }

    /**
     * Returns what went wrong while aborting.
     *
     * @return what NCCL said, or that it did not come back in time; empty if all went well
     */
    public Optional<Throwable> abortFailure() {
        return handle.abortFailure();
    }

    /** Returns whose it is, and how that is. */
    @Override
    public String toString() {
        String state = isAborted() ? "aborted" : isClosed() ? "closed" : "active";
        return "NcclAbortHandle[rank " + handle.place().rank() + " of "
                + handle.place().worldSize() + ", " + state + "]";
    }
}

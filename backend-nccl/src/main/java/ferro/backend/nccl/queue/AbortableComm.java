package ferro.backend.nccl.queue;

import ferro.FerroException;
import java.time.Duration;
import java.util.Optional;

/** The communicator as a {@link WorkQueue} uses it: a thread that makes native calls, and an abort that ends them. */
public interface AbortableComm {
    /** Returns group, rank and device. */
    CommIdentity identity();

    /** Returns the thread that makes the native calls. */
    DeviceThread thread();

    /** Starts a deadline on the clock of the communicator. */
    Deadline deadline(Duration timeout);

    /** Polls NCCL for a failure that no call has reported; the failure names the given operation. */
    Optional<FerroException> asyncFailure(NcclOperation operation);

    /** Aborts the communicator in NCCL. Waits a limited time for this or an earlier abort. */
    void abortAndWait(String why);

    /** Returns whether an abort has begun. After this, a stream may finish although its work was not done. */
    boolean isAborted();

    /** Returns whether the abort has ended. After this, NCCL puts no more work on a stream. */
    boolean isAbortOver();

    /** Returns why the abort itself failed. */
    Optional<Throwable> abortFailure();
}

package ferro.backend.nccl.queue;

import ferro.FerroException;
import java.time.Duration;
import java.util.Optional;

/** The communicator for a {@link WorkQueue}: a thread that makes its calls, and an abort that ends them. */
public interface AbortableComm {
    /** Returns group, rank and device. */
    CommIdentity identity();

    /** Returns the thread that makes the native calls. */
    DeviceThread thread();

    /** Starts a deadline on the clock of the communicator. */
    Deadline deadline(Duration timeout);

    /** Polls NCCL for a failure that no call has reported; the failure names the given operation. */
    Optional<FerroException> asyncFailure(NcclOperation operation);

    /** Aborts natively, and waits for an abort that has begun before. The wait is limited. */
    void abortAndWait(String why);

    /** Returns whether an abort has begun, so that streams may finish without having done the work. */
    boolean isAborted();

    /** Returns whether NCCL will put no more work on a stream. */
    boolean isAbortOver();

    /** Returns why the abort itself failed. */
    Optional<Throwable> abortFailure();
}

package ferro.backend.nccl.queue;

import ferro.FerroException;
import java.time.Duration;
import java.util.Optional;

/** The communicator that a {@link WorkQueue} sees: a thread that makes its calls, and an abort that ends them. */
public interface AbortableComm {
    /** Returns group, rank and device. */
    CommIdentity identity();

    /** Returns the thread that makes the native calls. */
    DeviceThread thread();

    /** Starts a deadline on the clock of the communicator. */
    Deadline deadline(Duration timeout);

    /** Asks NCCL for a failure that no call has reported, named after an operation. */
    Optional<FerroException> asyncFailure(NcclOperation operation);

    /** Aborts natively, and waits for the end of an abort that has begun before. The wait is bounded. */
    void abortAndWait(String why);

    /** Returns whether an abort has begun, so that streams may pass without having done the work. */
    boolean isAborted();

    /** Returns whether NCCL puts nothing on a stream any more. */
    boolean isAbortOver();

    /** Returns why the abort itself failed. */
    Optional<Throwable> abortFailure();
}

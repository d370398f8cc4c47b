package ferro.backend.nccl.queue;

import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.control.failure.Failure;
import java.time.Duration;
import java.util.Set;

/**
 * Identity of a communicator, for messages, thread names and the location of a failure.
 *
 * @param group     name
 * @param rank      own rank
 * @param worldSize number of ranks
 * @param device    ordinal
 * @param self      name of this rank in texts; contains its number in the joined group if that number differs from
 *     {@code rank}
 */
public record CommIdentity(String group, int rank, int worldSize, int device, String self) {
    /** Creates the identity of a rank in a joined group. */
    public CommIdentity(String group, int rank, int worldSize, int device) {
        this(group, rank, worldSize, device, "rank " + rank);
    }

    /**
     * Checks rank, world size and device before they are passed to NCCL.
     *
     * @throws ferro.InvalidRankException if the rank is negative or not below the world size
     * @throws IllegalArgumentException   if the world size is below 1 or the device is negative
     */
    public CommIdentity {
        if (worldSize < 1) {
            throw new IllegalArgumentException("world size " + worldSize + " is too small: need 1 or more");
        }
        InvalidRankException.check(rank, worldSize);
        if (device < 0) {
            throw new IllegalArgumentException("device ordinal " + device + " is negative: the first device is 0");
        }
    }

    /** Returns the name of a thread of this communicator. */
    public String threadName(String role) {
        return "ferro-" + group + "-" + rank + "-" + role;
    }

    /** Returns the location of a failure in an operation. */
    public Where where(NcclOperation operation, long elapsedNanos) {
        return where(operation.label(), elapsedNanos);
    }

    /** Returns the location of a failure in a call. {@code call} is the name of the call with its label. */
    Where where(String call, long elapsedNanos) {
        return Where.of(group, rank).during(call, -1).after(Duration.ofNanos(elapsedNanos), Duration.ZERO);
    }

    /** Creates a failure that this rank has detected; {@code cause} may be null. */
    public Failure failure(Code code, Set<Integer> culprits, String text, Throwable cause) {
        return new Failure(code, rank, -1, culprits, text, cause);
    }

    /** Returns the start of a message about an operation. */
    public String during(NcclOperation operation) {
        return during(operation.label());
    }

    /** Returns the start of a message about a call. {@code call} is the name of the call with its label. */
    String during(String call) {
        return call + " on " + this;
    }

    @Override
    public String toString() {
        return "group \"" + group + "\" " + self;
    }
}

package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * A group to join. It contains no secret, so it can be printed.
 *
 * @param name      equal on every rank
 * @param rank      this rank
 * @param worldSize number of ranks
 * @param timeout   default deadline of every call, and of joining unless {@code ferro.join.timeout} is set; more than a
 *     century means no deadline
 */
public record GroupSpec(String name, int rank, int worldSize, Duration timeout) {
    /**
     * Checks the numbers.
     *
     * @param name      equal on every rank
     * @param rank      this rank
     * @param worldSize number of ranks
     * @param timeout   default deadline
     * @throws IllegalArgumentException if rank is not below world size, or the deadline is zero or negative
     */
    public GroupSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(timeout, "timeout");
        if (worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("group \"" + name + "\" cannot have rank " + rank + " of world size "
                    + worldSize + ": ranks go from 0 to world size - 1");
        }
        if (timeout.isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "group \"" + name + "\": a deadline must be more than zero, found " + timeout);
        }
    }
}

package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * The description of a group to join. The description contains no secret, so it may be printed.
 *
 * @param name      name of the group, equal on every rank
 * @param rank      this rank
 * @param worldSize number of ranks
 * @param timeout   default time limit of every call, and of joining unless {@code ferro.join.timeout} is set; more than
 *     a century means no limit
 */
public record GroupSpec(String name, int rank, int worldSize, Duration timeout) {
    /**
     * Checks the rank, the world size and the timeout.
     *
     * @param name      name of the group, equal on every rank
     * @param rank      this rank
     * @param worldSize number of ranks
     * @param timeout   default time limit
     * @throws IllegalArgumentException if the rank is not below the world size, or the timeout is zero or negative
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

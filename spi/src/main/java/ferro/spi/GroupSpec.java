package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/** The description of a group to join. The description contains no secret, so it may be printed. */
public final class GroupSpec {
    private final SpecFields spec;

    private record SpecFields(String name, int rank, int worldSize, Duration timeout, Duration joinTimeout) {}

    private GroupSpec(String name, int rank, int worldSize, Duration timeout, Duration joinTimeout) {
        Objects.requireNonNull(name, "name");
        if (worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("group \"" + name + "\" cannot have rank " + rank + " of world size "
                    + worldSize + ": ranks go from 0 to world size - 1");
        }
        spec = new SpecFields(name, rank, worldSize, checked(timeout, name), checked(joinTimeout, name));
    }

    /**
     * Creates the description of a group.
     *
     * @param name name of the group, equal on every rank
     * @param rank this rank
     * @param worldSize number of ranks
     * @param timeout default time limit of every call, and of joining unless {@link #withJoinTimeout} or {@code
     *     ferro.join.timeout} sets another limit of joining; more than a century means no limit
     * @return description
     * @throws IllegalArgumentException if the rank is not below the world size, or the timeout is zero or negative
     */
    public static GroupSpec of(String name, int rank, int worldSize, Duration timeout) {
        return new GroupSpec(name, rank, worldSize, timeout, timeout);
    }

    private static Duration checked(Duration timeout, String name) {
        if (Objects.requireNonNull(timeout, "timeout").isZero() || timeout.isNegative()) {
            throw new IllegalArgumentException(
                    "group \"" + name + "\": a timeout must be more than zero, found " + timeout);
        }
        return timeout;
    }

    /**
     * Returns a copy of this description with another time limit of joining. The time limit of calls stays.
     *
     * @param limit time limit of joining, unless {@code ferro.join.timeout} is set; more than a century means no limit
     * @return description
     * @throws IllegalArgumentException if the time limit is zero or negative
     */
    public GroupSpec withJoinTimeout(Duration limit) {
        Objects.requireNonNull(limit, "limit");
        return new GroupSpec(spec.name, spec.rank, spec.worldSize, spec.timeout, limit);
    }

    /** {@return the name of the group, equal on every rank} */
    public String name() {
        return spec.name;
    }

    /** {@return this rank} */
    public int rank() {
        return spec.rank;
    }

    /** {@return the number of ranks} */
    public int worldSize() {
        return spec.worldSize;
    }

    /** {@return the default time limit of every call; more than a century means no limit} */
    public Duration timeout() {
        return spec.timeout;
    }

    /**
     * {@return the time limit of joining, unless {@code ferro.join.timeout} is set ({@link Deadlines#ofJoin}); more
     * than a century means no limit}
     */
    public Duration joinTimeout() {
        return spec.joinTimeout;
    }

    @Override
    public String toString() {
        return "Group" + spec;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof GroupSpec that && spec.equals(that.spec);
    }

    @Override
    public int hashCode() {
        return spec.hashCode();
    }
}

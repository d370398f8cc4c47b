package ferro.collectives.engine.shm;

import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.function.LongSupplier;

/** The time limits of the calls by which the ranks of a new group make it ready. */
public final class BootstrapDeadline {
    /** Shortest limit of a call, which also holds once the deadline has passed: a call refuses a limit of zero. */
    private static final long LEAST_NANOS = 1_000_000;

    private final LongSupplier clock;
    private final long endNanos;
    /** Limit of each call; null if one deadline holds for all calls. */
    private final Duration each;

    private BootstrapDeadline(LongSupplier clock, long endNanos, Duration each) {
        this.clock = clock;
        this.endNanos = endNanos;
        this.each = each;
    }

    /** Begins the time of a joined group now: all calls together have the time limit of joining. */
    public static BootstrapDeadline ofJoin(GroupSpec group, RankContext context) {
        long end = context.nanoTime() + Deadlines.nanos(group.joinTimeout());
        return new BootstrapDeadline(context::nanoTime, end, null);
    }

    /** Returns the limits of a group that was made of another group: each call has the time limit of the group. */
    public static BootstrapDeadline ofSubgroup(GroupSpec group) {
        return new BootstrapDeadline(() -> 0, 0, group.timeout());
    }

    /** Returns the time limit of the next call. */
    public Duration left() {
        return each != null ? each : Duration.ofNanos(Math.max(LEAST_NANOS, endNanos - clock.getAsLong()));
    }
}

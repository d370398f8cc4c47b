package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * Durations as numbers that can be added to a clock without overflow. A very long duration becomes a hundred years, which
 * means no deadline. A negative duration becomes 0.
 */
public final class Deadlines {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Deadlines() {}

    /**
     * Returns a duration in nanoseconds.
     *
     * @param timeout any
     * @return nanoseconds, 0 to a hundred years
     */
    public static long nanos(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.compareTo(LONGEST) > 0) {
            return LONGEST.toNanos();
        }
        return timeout.isNegative() ? 0 : timeout.toNanos();
    }

    /**
     * Returns how long joining may take, from its start to the last connection. It has a deadline of its own because
     * ranks of a cluster may start minutes apart, however short the deadline of later calls is.
     *
     * @param group   who joins
     * @param context settings
     * @return {@code ferro.join.timeout}; the group's own timeout where nothing sets it
     * @throws IllegalArgumentException naming the setting and its text if that makes no sense
     */
    public static Duration ofJoin(GroupSpec group, RankContext context) {
        Objects.requireNonNull(group, "group");
        return Settings.JOIN_TIMEOUT.find(context).orElse(group.timeout());
    }

    /**
     * Returns a duration in milliseconds, for messages.
     *
     * @param timeout any
     * @return milliseconds, 0 to a hundred years
     */
    public static long millis(Duration timeout) {
        return nanos(timeout) / 1_000_000;
    }
}

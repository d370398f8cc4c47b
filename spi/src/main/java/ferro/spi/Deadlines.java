package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * Conversions of durations to numbers that can be added to a clock without overflow. A duration of more than a hundred
 * years becomes a hundred years, which means no deadline. A negative duration becomes 0.
 */
public final class Deadlines {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Deadlines() {}

    /**
     * Returns a duration in nanoseconds.
     *
     * @param timeout any duration
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
     * Returns how long joining may take, from its start to the last connection. This time limit is separate from that
     * of later calls, because ranks of a cluster may start minutes apart.
     *
     * @param group   group to join
     * @param context settings
     * @return {@code ferro.join.timeout}; the {@linkplain GroupSpec#joinTimeout time limit of the group} if that setting
     *     is unset
     * @throws IllegalArgumentException if the setting has an invalid value; the message contains the setting and its
     *     text
     */
    public static Duration ofJoin(GroupSpec group, RankContext context) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        boolean set = context.setting(Settings.JOIN_TIMEOUT.name()).isPresent();
        return set ? Settings.JOIN_TIMEOUT.of(context) : group.joinTimeout();
    }

    /**
     * Returns a duration in milliseconds, for messages.
     *
     * @param timeout any duration
     * @return milliseconds, 0 to a hundred years
     */
    public static long millis(Duration timeout) {
        return nanos(timeout) / 1_000_000;
    }
}

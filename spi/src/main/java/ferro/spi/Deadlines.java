package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * Conversions of durations to numbers that can be added to a clock without overflow. A duration of more than a hundred
 * years becomes a hundred years, which means no deadline. A negative duration becomes 0.
 */
public final class Deadlines {
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final Duration NONE = LONGEST.multipliedBy(2);

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
     * Returns the time limit of a join, from its start to the last connection. The limit of a join is separate from the
     * limit of later calls, because ranks of a cluster may start minutes apart.
     *
     * @param group   group to join
     * @param context settings
     * @return {@code ferro.join.timeout}; the {@linkplain GroupSpec#joinTimeout time limit of the group} if that
     *     setting is unset; no limit if {@code ferro.debug} is on
     * @throws IllegalArgumentException if the setting has an invalid value; the message contains the setting and its
     *     text
     */
    public static Duration ofJoin(GroupSpec group, RankContext context) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        boolean set = context.setting(Settings.JOIN_TIMEOUT.name()).isPresent();
        return inForce(set ? Settings.JOIN_TIMEOUT.of(context) : group.joinTimeout(), context);
    }

    /**
     * Returns the time limit of every call for which the program sets no other limit.
     *
     * @param context settings
     * @return {@code ferro.timeout}; no limit if {@code ferro.debug} is on
     * @throws IllegalArgumentException if a setting has an invalid value; the message contains the setting and its text
     */
    public static Duration ofCalls(RankContext context) {
        return inForce(Settings.TIMEOUT.of(Objects.requireNonNull(context, "context")), context);
    }

    /**
     * Returns the time limit that applies in place of a given limit. While a rank stands at a breakpoint of a debugger,
     * calls, joins and closes of other ranks must not end by their limits.
     *
     * @param limit   time limit that applies without a debugger; the program, the code or a setting sets this limit
     * @param context settings
     * @return {@code limit}; no limit, which is a duration of two hundred years, if {@code ferro.debug} is on
     * @throws IllegalArgumentException if {@code ferro.debug} has an invalid value
     */
    public static Duration inForce(Duration limit, RankContext context) {
        Objects.requireNonNull(limit, "limit");
        Objects.requireNonNull(context, "context");
        return Settings.DEBUG.of(context) ? NONE : limit;
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

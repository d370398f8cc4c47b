package ferro.spi;

import java.time.Duration;
import java.util.Objects;

/** Durations as nanoseconds that can be added to a clock: very long ones are a hundred years, not an overflow. */
public final class Deadlines {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Deadlines() {}

    /**
     * Returns a duration in nanoseconds.
     *
     * @param timeout any
     * @return nanoseconds, at most a hundred years
     */
    public static long nanos(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return timeout.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : timeout.toNanos();
    }
}

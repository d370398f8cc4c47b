package ferro.launcher.nodes;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The times at which a launcher prints a line while it waits for other launchers. The first line is due after 3 s, and
 * each later line 30 s after the previous line. All parts of one wait share one object. Thread-safe.
 */
public final class LineTimes {
    /** Time from the start of a wait to its first line. */
    public static final Duration FIRST = Duration.ofSeconds(3);

    /** Time from one line to the next. */
    public static final Duration LATER = Duration.ofSeconds(30);

    private final LongSupplier clock;
    private volatile long next;

    /**
     * Begins a wait now.
     *
     * @param clock returns nanoseconds
     */
    public LineTimes(LongSupplier clock) {
        this.clock = clock;
        next = clock.getAsLong() + FIRST.toNanos();
    }

    /** {@return the time to the next line; zero if the line is due} */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, next - clock.getAsLong()));
    }

    /** Records that a line is printed now. */
    public void printed() {
        next = clock.getAsLong() + LATER.toNanos();
    }
}

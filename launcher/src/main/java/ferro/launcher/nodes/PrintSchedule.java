package ferro.launcher.nodes;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The times at which a launcher prints a line while it waits for other launchers. The first line is due after 3 s, and
 * each later line 30 s after the previous line. All parts of one wait share one object. Thread-safe.
 */
public final class PrintSchedule {
    /** The time from the start of a wait to the first printed line. */
    public static final Duration FIRST = Duration.ofSeconds(3);

    /** The time from one printed line to the next line. */
    public static final Duration LATER = Duration.ofSeconds(30);

    private final LongSupplier clock;
    private volatile long next;

    /**
     * Creates the times of a wait that begins now.
     *
     * @param clock returns nanoseconds
     */
    public PrintSchedule(LongSupplier clock) {
        this.clock = clock;
        next = clock.getAsLong() + FIRST.toNanos();
    }

    /** {@return the time until the next line is due; zero if the line is due now} */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, next - clock.getAsLong()));
    }

    /** Records that a line is printed now. */
    public void printed() {
        next = clock.getAsLong() + LATER.toNanos();
    }
}

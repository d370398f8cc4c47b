package ferro.control.membership;

import ferro.control.wire.RankSetFormat;
import ferro.spi.Deadlines;
import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * The interval of heartbeats, and the time for which a rank may be silent.
 *
 * @param intervalNanos nanoseconds between two heartbeats; 0 for no heartbeats
 * @param suspectNanos  nanoseconds of silence before an event reports the silence
 * @param limitNanos    nanoseconds of silence before groups fail
 */
public record HeartbeatLimits(long intervalNanos, long suspectNanos, long limitNanos) {
    /**
     * Reads the settings.
     *
     * @param context context with the settings
     * @return consistent times. If {@code ferro.debug} is on, ranks send no heartbeats, because a rank at a breakpoint
     *     is silent
     * @throws IllegalArgumentException if a rank would be suspected between two of its heartbeats, or would count as
     *     lost before it is suspected
     */
    public static HeartbeatLimits of(RankContext context) {
        HeartbeatLimits times = new HeartbeatLimits(
                Deadlines.nanos(Settings.HEARTBEAT_INTERVAL.of(context)),
                Deadlines.nanos(Settings.HEARTBEAT_SUSPECT.of(context)),
                Deadlines.nanos(Settings.HEARTBEAT_LIMIT.of(context)));
        if (times.intervalNanos > 0
                && (times.suspectNanos <= times.intervalNanos || times.limitNanos < times.suspectNanos)) {
            throw new IllegalArgumentException(Settings.HEARTBEAT_INTERVAL.name() + " (" + words(times.intervalNanos)
                    + ") must be shorter than " + Settings.HEARTBEAT_SUSPECT.name() + " (" + words(times.suspectNanos)
                    + "), which must be at most " + Settings.HEARTBEAT_LIMIT.name() + " (" + words(times.limitNanos)
                    + "): set all three");
        }
        return Settings.DEBUG.of(context) ? new HeartbeatLimits(0, times.suspectNanos, times.limitNanos) : times;
    }

    boolean areOn() {
        return intervalNanos > 0;
    }

    /** Formats a time for people. */
    static String words(long nanos) {
        return nanos < 1_000_000_000L ? nanos / 1_000_000L + " ms" : RankSetFormat.seconds(nanos);
    }
}

package ferro.backend.tcp.net;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.SocketAddress;
import java.time.ZonedDateTime;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A log of refused or waiting connections. Each of its messages is logged at most once a minute, so that no peer can
 * fill the disk.
 */
public final class UnauthenticatedPeerLog {
    static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int SHOWN_BYTES = 8;

    private final Logger log;
    private final LongSupplier clock;
    private final LogRateLimiter strangers = new LogRateLimiter();
    private final LogRateLimiter refusals = new LogRateLimiter();
    private final LogRateLimiter failures = new LogRateLimiter();

    /** Creates a log with a limited rate of lines; {@code clock} returns nanoseconds. */
    public UnauthenticatedPeerLog(Logger log, LongSupplier clock) {
        this.log = log;
        this.clock = clock;
    }

    /**
     * Loads the log configuration and the time zones. Each log line needs both, and later there may be no file
     * descriptors to load them.
     */
    void prepare() {
        log.isLoggable(Level.WARNING);
        ZonedDateTime.now();
    }

    void seen(SocketAddress from, byte[] bytes, int length) {
        if (strangers.due(clock.getAsLong())) {
            log.log(
                    Level.WARNING,
                    "closed a connection from " + from + " that does not speak ferro: first bytes "
                            + HexFormat.ofDelimiter(" ").formatHex(bytes, 0, Math.min(length, SHOWN_BYTES)) + ", "
                            + strangers.taken() + " such connections since the last line");
        }
    }

    void refused(SocketAddress from, Refusal refusal) {
        if (refusals.due(clock.getAsLong())) {
            log.log(
                    Level.WARNING,
                    "refused a connection from " + from + " with " + refusal.code() + ": " + refusal.getMessage() + "; "
                            + refusals.taken() + " refused since the last line");
        }
    }

    /**
     * Logs that the process has no descriptor or no memory for one more connection. The log itself may fail for the
     * same reason, even with an error. A failure of the log must not end the loop. In this case the line is logged
     * later.
     */
    void notAccepted(SocketAddress at, Throwable cause, long pauseMillis) {
        if (!failures.due(clock.getAsLong())) {
            return;
        }
        try {
            log.log(
                    Level.WARNING,
                    "cannot accept connections at " + at + " (" + cause.getMessage() + "), trying again every "
                            + pauseMillis + " ms; groups that need no new connection go on: see ulimit -n; "
                            + failures.taken() + " such failures since the last line");
        } catch (RuntimeException | Error unable) {
            failures.unsaid();
        }
    }

    /** Counts events and decides when a line is due. */
    private static final class LogRateLimiter {
        private long last;
        private boolean said;
        private int count;

        boolean due(long now) {
            count++;
            if (said && now - last < QUIET_NANOS) {
                return false;
            }
            said = true;
            last = now;
            return true;
        }

        void unsaid() {
            said = false;
        }

        int taken() {
            int taken = count;
            count = 0;
            return taken;
        }
    }
}

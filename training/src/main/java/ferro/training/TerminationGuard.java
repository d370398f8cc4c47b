package ferro.training;

import ferro.spi.PlainLoggers;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that ends a process within a time limit. Shortly before the end of the time limit, the thread exits the
 * process, which runs shutdown hooks. If a shutdown hook hangs, the thread halts the process.
 */
final class TerminationGuard {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");
    /**
     * The time before the end of the time limit at which the process exits. If a quarter of the limit is less, the
     * quarter counts.
     */
    private static final long LONGEST_RESERVE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Duration bound;
    private final ProcessTerminator end;
    private final int exitCode;

    /** The two ways in which the guard ends a process. */
    interface ProcessTerminator {
        /** Runs the shutdown hooks and ends the process. */
        void exit(int exitCode);

        /** Ends the process at once, without shutdown hooks. */
        void halt(int exitCode);
    }

    static final class JvmTerminator implements ProcessTerminator {
        @Override
        public void exit(int exitCode) {
            System.exit(exitCode);
        }

        @Override
        public void halt(int exitCode) {
            Runtime.getRuntime().halt(exitCode);
        }
    }

    TerminationGuard(Duration bound, ProcessTerminator end, int exitCode) {
        this.bound = bound;
        this.end = end;
        this.exitCode = exitCode;
    }

    /** Starts the time limit. */
    void start() {
        long begun = System.nanoTime();
        start("ferro-termination", () -> guard(begun));
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void guard(long begun) {
        long boundNanos = TimeUnit.NANOSECONDS.convert(bound);
        long reserve = Math.min(LONGEST_RESERVE_NANOS, boundNanos / 4);
        parkUntil(begun, boundNanos - reserve);
        // another thread exits the process, because the log or a hook may hang
        start("ferro-termination-exit", () -> exit(reserve));
        parkUntil(begun, boundNanos - reserve / 2);
        end.halt(exitCode);
    }

    private void exit(long reserveNanos) {
        LOG.log(
                Level.WARNING,
                "the process still runs " + Duration.ofNanos(reserveNanos) + " before the end of its bound of " + bound
                        + " after SIGTERM: it exits now");
        end.exit(exitCode);
    }

    private static void parkUntil(long begun, long nanos) {
        long left = nanos - (System.nanoTime() - begun);
        while (left > 0) {
            LockSupport.parkNanos(left);
            left = nanos - (System.nanoTime() - begun);
        }
    }
}

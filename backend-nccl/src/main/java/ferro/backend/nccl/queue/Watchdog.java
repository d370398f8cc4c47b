package ferro.backend.nccl.queue;

import ferro.FerroException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that ends the calls that the device thread cannot end: operations past their deadline, failures that NCCL
 * reports only when it is polled, and failures of other ranks. It waits only for the native abort, which is bounded.
 *
 * <p>Raw calls have no deadline. For these it only polls NCCL for failures until their stream is synchronised.
 *
 * <p>While nothing is pending it sleeps. The first operation after that wakes it; later ones wake it only if their
 * deadline is nearer than its next poll. Without a failure or a slow operation it polls NCCL ten times a second.
 */
final class Watchdog {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    private static final long LOOK_NANOS = 100_000_000;
    private static final long ASLEEP = Long.MAX_VALUE;
    private final WorkQueue queue;
    private final Thread thread;
    /** Nanoseconds until the next poll, measured from the last one; {@link #ASLEEP} if there is none. */
    private volatile long lookAfterNanos = ASLEEP;

    private volatile boolean ended;
    private boolean settled;
    /** Null until the first operation is watched. */
    private CallWatch calls;

    Watchdog(WorkQueue queue) {
        this.queue = queue;
        thread = new Thread(this::run, queue.identity().threadName("watchdog"));
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Makes sure that a deadline is watched. */
    void watch(Deadline deadline) {
        if (lookAfterNanos == ASLEEP || deadline.remainingNanos() < lookAfterNanos) {
            LockSupport.unpark(thread);
        }
    }

    /** Makes sure that raw calls are watched. */
    void watchRaw() {
        if (lookAfterNanos == ASLEEP) {
            LockSupport.unpark(thread);
        }
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    /** Ends the thread, which may be in an abort; the abort is bounded. */
    void end() {
        ended = true;
        wake();
        if (Thread.currentThread() == thread) {
            return;
        }
        boolean interrupted = false;
        try {
            thread.join(LOOK_NANOS / 1_000_000);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!ended) {
            lookAfterNanos = lookAnyway();
            if (lookAfterNanos == ASLEEP) {
                // an operation that came before this decision has read the old value
                if (isIdle() || settled) {
                    LockSupport.park(this);
                }
            } else {
                LockSupport.parkNanos(this, lookAfterNanos);
            }
        }
    }

    private boolean isIdle() {
        return queue.oldest() == null && queue.failure() == null && !queue.hasRawCalls();
    }

    /**
     * Polls and survives any exception. Callers wait for this thread, so nothing may end it: a failure here ends the
     * group.
     */
    private long lookAnyway() {
        try {
            return look();
        } catch (Throwable thrown) {
            try {
                LOG.log(Level.WARNING, "the watchdog of " + queue.identity() + " failed", thrown);
                queue.firstFailure().failedNatively(queue.lastOperation(), thrown);
            } catch (Throwable again) {
                // the failure is set nevertheless, and the next poll settles it
                thrown.addSuppressed(again);
            }
            return LOOK_NANOS;
        }
    }

    /** Polls once. Returns the nanoseconds until the next poll. */
    private long look() {
        if (queue.failure() != null) {
            if (!settled) {
                settled = true;
                queue.firstFailure().settle();
            }
            return ASLEEP;
        }
        NcclWork oldest = queue.oldest();
        if (oldest == null && !queue.hasRawCalls()) {
            return ASLEEP;
        }
        NcclOperation operation = queue.lastOperation();
        Optional<FerroException> thrown = queue.comm().asyncFailure(operation);
        if (thrown.isPresent()) {
            // the wrapped exception has only the message of NCCL
            queue.firstFailure().failedNatively(operation, thrown.get().getCause());
            return 0;
        }
        if (oldest == null) {
            return LOOK_NANOS;
        }
        if (calls == null) {
            calls = new CallWatch(queue);
        }
        return Math.min(LOOK_NANOS, calls.check(oldest));
    }
}

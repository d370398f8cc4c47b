package ferro.backend.gloofallback;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * The calls of one host group that go through host memory. The calls run one at a time, in submission order, on a
 * separate thread. The thread ends after two seconds without a call.
 *
 * <p>Calls run one at a time, because a call may use results that the previous call left on the device.
 */
final class HostCallQueue {
    /** Longer than a usual training step, so that staging memory stays allocated between two steps. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long END_MILLIS = 1000;

    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private Thread thread;
    private RoundTripState.RoundTripLease lease;
    private boolean ending;
    private volatile int unfinished;

    /** Returns whether calls wait for submission to the host group. A later call must not overtake such calls. */
    boolean isBusy() {
        return unfinished > 0;
    }

    /**
     * Queues a call. Closes {@code opened} when the thread of this queue ends, or at once if the thread runs already.
     *
     * @throws OutOfMemoryError if the system has no memory for a thread; in this case the call is not queued
     */
    synchronized void add(Runnable call, RoundTripState.RoundTripLease opened, String name) {
        if (thread == null) {
            Thread made = opened.context().newThread(this::run, name);
            try {
                made.start();
            } catch (OutOfMemoryError noThread) {
                opened.close();
                throw noThread;
            }
            thread = made;
            lease = opened;
        } else {
            opened.close();
        }
        unfinished++;
        waiting.add(call);
        notifyAll();
    }

    /** Waits until no call is left. Returns whether all calls ended in time. */
    synchronized boolean drain(long untilNanos) {
        boolean interrupted = false;
        while (unfinished > 0 && System.nanoTime() - untilNanos < 0 && !interrupted) {
            interrupted = !pause(untilNanos - System.nanoTime());
        }
        return unfinished == 0;
    }

    /** Ends the thread when no call is left. Waits a limited time until the thread has ended. */
    void end() {
        Thread last;
        synchronized (this) {
            ending = true;
            last = thread;
            notifyAll();
        }
        if (last == null || last == Thread.currentThread()) {
            return;
        }
        try {
            last.join(END_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        for (Runnable next = next(); next != null; next = next()) {
            try {
                next.run();
            } finally {
                finished();
            }
        }
    }

    private synchronized void finished() {
        unfinished--;
        notifyAll();
    }

    private Runnable next() {
        RoundTripState.RoundTripLease last;
        synchronized (this) {
            long until = System.nanoTime() + IDLE_NANOS;
            while (waiting.isEmpty() && !ending && System.nanoTime() - until < 0) {
                if (!pause(until - System.nanoTime())) {
                    break;
                }
            }
            if (!waiting.isEmpty()) {
                return waiting.remove();
            }
            last = lease;
            lease = null;
            thread = null;
        }
        last.close();
        return null;
    }

    /** Waits until the queue changes or {@code nanos} have passed. Returns false if the thread was interrupted. */
    private boolean pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, nanos);
            return true;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

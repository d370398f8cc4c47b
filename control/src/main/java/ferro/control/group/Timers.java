package ferro.control.group;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The delayed tasks of a group, which timers of the context run until the group is closed. Thread-safe. */
final class Timers {
    private final Supplier<ScheduledExecutorService> background;
    private final LongSupplier clock;
    private final Consumer<OutOfMemoryError> exhausted;
    private final Set<DelayedTask> waiting = new HashSet<>();
    private boolean closed;

    /**
     * Creates timers.
     *
     * @param exhausted receives the error if no thread or memory is available for a task; in this case the task runs at
     *     once
     */
    Timers(Supplier<ScheduledExecutorService> background, LongSupplier clock, Consumer<OutOfMemoryError> exhausted) {
        this.background = background;
        this.clock = clock;
        this.exhausted = exhausted;
    }

    /** A delayed task. */
    private final class DelayedTask implements Runnable {
        private final Runnable task;
        private Future<?> handle;

        DelayedTask(Runnable task) {
            this.task = task;
        }

        @Override
        public void run() {
            if (remove(this)) {
                task.run();
            }
        }
    }

    /** Returns the time on the clock of the context. */
    long nanoTime() {
        return clock.getAsLong();
    }

    /** Runs a task after a delay, unless the timers are closed before. The task needs no thread that makes progress. */
    void later(Runnable task, long nanos) {
        DelayedTask timer = new DelayedTask(task);
        OutOfMemoryError error = null;
        synchronized (this) {
            if (closed) {
                return;
            }
            waiting.add(timer);
            try {
                timer.handle = background.get().schedule(timer, nanos, TimeUnit.NANOSECONDS);
                return;
            } catch (RejectedExecutionException over) {
                // a context that ends accepts no more timers, so the task runs now instead of never
            } catch (OutOfMemoryError noThread) {
                error = noThread;
            }
        }
        if (error != null) {
            // reports the error before the task runs, because the task may blame another rank
            exhausted.accept(error);
        }
        timer.run();
    }

    private synchronized boolean remove(DelayedTask timer) {
        return waiting.remove(timer);
    }

    /** Cancels the tasks that have not run yet. */
    synchronized void close() {
        closed = true;
        for (DelayedTask timer : waiting) {
            if (timer.handle != null) {
                timer.handle.cancel(false);
            }
        }
        waiting.clear();
    }
}

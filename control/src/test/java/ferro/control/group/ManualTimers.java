package ferro.control.group;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Timers that run when the test calls them. A late task delays the next one, as with a fixed delay in the JDK. */
final class ManualTimers extends AbstractExecutorService implements ScheduledExecutorService {
    private final LongSupplier clock;
    private final List<Timer<?>> timers = new ArrayList<>();

    ManualTimers(LongSupplier clock) {
        this.clock = clock;
    }

    /** Runs all tasks that are due. */
    void runDue() {
        for (Timer<?> timer : List.copyOf(timers)) {
            if (clock.getAsLong() - timer.dueAt >= 0) {
                timers.remove(timer);
                timer.fire();
            }
        }
        timers.removeIf(FutureTask::isCancelled);
    }

    int scheduled() {
        timers.removeIf(FutureTask::isCancelled);
        return timers.size();
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return start(new Timer<>(Executors.callable(task), 0), unit.toNanos(delay));
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return start(new Timer<>(task, 0), unit.toNanos(delay));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initialDelay, long period, TimeUnit unit) {
        throw new UnsupportedOperationException("after a pause of " + period + " " + unit + " it would catch up");
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
        return start(new Timer<>(Executors.callable(task), unit.toNanos(delay)), unit.toNanos(initialDelay));
    }

    private <V> Timer<V> start(Timer<V> timer, long delayNanos) {
        timer.dueAt = clock.getAsLong() + delayNanos;
        timers.add(timer);
        return timer;
    }

    @Override
    public void shutdown() {
        timers.clear();
    }

    @Override
    public List<Runnable> shutdownNow() {
        timers.clear();
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return false;
    }

    /** A task that runs once at a time, or repeatedly. */
    private final class Timer<V> extends FutureTask<V> implements ScheduledFuture<V> {
        private final long periodNanos;
        private long dueAt;

        Timer(Callable<V> task, long periodNanos) {
            super(task);
            this.periodNanos = periodNanos;
        }

        private void fire() {
            if (periodNanos == 0) {
                run();
            } else if (runAndReset()) {
                start(this, periodNanos);
            }
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(dueAt - clock.getAsLong(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}

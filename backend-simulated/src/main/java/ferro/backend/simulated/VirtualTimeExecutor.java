package ferro.backend.simulated;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** An executor that runs the timers and background work of one simulated rank at virtual times. */
final class VirtualTimeExecutor extends AbstractExecutorService implements ScheduledExecutorService {
    private static final long EXECUTE = 5L << 56;
    private static final long TIMER = 6L << 56;

    private final EventQueue events;
    private final int rank;
    private final Set<VirtualTimer<?>> open = new HashSet<>();
    private long lastExecute;
    private long timers;

    VirtualTimeExecutor(EventQueue events, int rank) {
        this.events = events;
        this.rank = rank;
    }

    /** Runs tasks in order, as one background thread would. */
    @Override
    public void execute(Runnable task) {
        lastExecute = Math.max(lastExecute + 1, events.elapsed() + events.delay());
        events.add(lastExecute, rank, EXECUTE | rank, task);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return start(new VirtualTimer<>(Executors.callable(task), 0), unit.toNanos(delay));
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return start(new VirtualTimer<>(task, 0), unit.toNanos(delay));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long initialDelay, long period, TimeUnit unit) {
        return start(new VirtualTimer<>(Executors.callable(task), unit.toNanos(period)), unit.toNanos(initialDelay));
    }

    /** Schedules a task at a fixed rate. A fixed rate equals a fixed delay, because a task takes no virtual time. */
    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long initialDelay, long delay, TimeUnit unit) {
        return scheduleAtFixedRate(task, initialDelay, delay, unit);
    }

    private <V> VirtualTimer<V> start(VirtualTimer<V> timer, long delayNanos) {
        open.add(timer);
        timer.dueAt = events.elapsed() + Math.max(0, delayNanos);
        events.addTimer(timer.dueAt, rank, TIMER | timer.number << 16 | rank, timer::fire);
        return timer;
    }

    /** Returns how many timers would still fire. */
    int openTimers() {
        open.removeIf(VirtualTimer::isDone);
        return open.size();
    }

    @Override
    public void shutdown() {
        throw refusal("shutdown");
    }

    @Override
    public List<Runnable> shutdownNow() {
        throw refusal("shutdownNow");
    }

    private IllegalStateException refusal(String call) {
        return new IllegalStateException(call + " on the timers of simulated rank " + rank
                + ": the simulation owns these timers, do not shut them down");
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

    /** A task that runs at a virtual time, or periodically from a virtual time on. */
    private final class VirtualTimer<V> extends FutureTask<V> implements ScheduledFuture<V> {
        private final long periodNanos;
        private final long number = ++timers;
        private long dueAt;

        VirtualTimer(Callable<V> task, long periodNanos) {
            super(task);
            this.periodNanos = periodNanos;
        }

        private void fire() {
            open.remove(this);
            if (periodNanos == 0) {
                run();
            } else if (runAndReset()) {
                start(this, periodNanos);
            }
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(dueAt - events.elapsed(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}

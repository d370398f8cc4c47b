package ferro.backend.simulated;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A medium for ranks that have one thread each. Posts are visible at once. Tasks run in batches on one background
 * thread, one after the other, because the queue of a timer is slow with a million tasks.
 */
final class ThreadedMedium implements SimulatedMedium {
    private static final int BATCH = 1000;

    private final Executor background;
    private final LongSupplier clock;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();

    ThreadedMedium(Executor background, LongSupplier clock) {
        this.background = background;
        this.clock = clock;
    }

    @Override
    public void posted(LinkQueue channel, long posts) {
        channel.publish(posts);
    }

    @Override
    public void consumed(LinkQueue channel, long posts, boolean awaited) {
        channel.acknowledge(posts, awaited);
    }

    @Override
    public void later(int from, int to, Runnable task) {
        tasks.add(task);
        if (waiting.getAndIncrement() == 0) {
            background.execute(this::run);
        }
    }

    /** Runs a batch of tasks, and then leaves the executor to other tasks, such as timers. */
    private void run() {
        int done = 0;
        try {
            while (done < BATCH && done < waiting.get()) {
                done++;
                tasks.remove().run();
            }
        } finally {
            if (waiting.addAndGet(-done) > 0) {
                background.execute(this::run);
            }
        }
    }

    /** Runs the task after all earlier control messages, so that a peer receives an abort before the ends of links. */
    @Override
    public void afterPosts(LinkQueue channel, Runnable task) {
        later(channel.from(), channel.to(), task);
    }

    @Override
    public WakeSignal doorbell(int rank) {
        return new ThreadWakeSignal(clock);
    }

    /** A doorbell for threads. If no thread waits, a signal is not lost, because it ends the next wait at once. */
    private static final class ThreadWakeSignal implements WakeSignal {
        private final LongSupplier clock;
        private final AtomicBoolean rung = new AtomicBoolean();
        private volatile Thread waiter;

        ThreadWakeSignal(LongSupplier clock) {
            this.clock = clock;
        }

        @Override
        public void signal() {
            if (rung.getAndSet(true)) {
                return;
            }
            Thread thread = waiter;
            if (thread != null) {
                LockSupport.unpark(thread);
            }
        }

        @Override
        public void await(long deadlineNanos) {
            waiter = Thread.currentThread();
            try {
                while (!rung.get() && !Thread.currentThread().isInterrupted()) {
                    long left = deadlineNanos - clock.getAsLong();
                    if (left <= 0) {
                        return;
                    }
                    LockSupport.parkNanos(this, left);
                }
            } finally {
                waiter = null;
                rung.getAndSet(false);
            }
        }
    }
}

package ferro.backend.simulated;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs tasks one after the other on an executor, in batches. A timer's queue is slow with a million tasks in it. */
final class TaskQueue {
    private static final int BATCH = 1000;

    private final Executor executor;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();

    TaskQueue(Executor executor) {
        this.executor = executor;
    }

    void add(Runnable task) {
        tasks.add(task);
        if (waiting.getAndIncrement() == 0) {
            executor.execute(this::run);
        }
    }

    /** Runs a batch, and then leaves the executor to other tasks, such as timers. */
    private void run() {
        int done = 0;
        try {
            while (done < BATCH && done < waiting.get()) {
                done++;
                tasks.remove().run();
            }
        } finally {
            if (waiting.addAndGet(-done) > 0) {
                executor.execute(this::run);
            }
        }
    }
}

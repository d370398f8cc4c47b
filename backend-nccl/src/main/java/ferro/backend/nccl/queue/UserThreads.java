package ferro.backend.nccl.queue;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads for code of users: listeners, and stages that are chained to a work. It may block, so no thread that makes
 * progress for others runs it. The threads end when they are idle, so that this also works after the end of a group.
 */
final class UserThreads {
    private static final long IDLE_MILLIS = 1000;

    private final String name;
    private ThreadPoolExecutor pool;

    UserThreads(String name) {
        this.name = name;
    }

    /** Runs a task on a thread of its own. Without memory for a thread it runs on the caller's. */
    void run(Runnable task) {
        try {
            pool().execute(task);
        } catch (OutOfMemoryError noThread) {
            // running on the wrong thread is better than never
            task.run();
        }
    }

    private synchronized ThreadPoolExecutor pool() {
        if (pool == null) {
            pool = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, name);
                        thread.setDaemon(true);
                        return thread;
                    });
        }
        return pool;
    }
}

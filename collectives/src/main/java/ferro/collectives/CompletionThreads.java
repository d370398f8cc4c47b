package ferro.collectives;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads for what users chained to operations of a group, as many as block at once; made when one is needed. */
final class CompletionThreads {
    private static final long IDLE_MILLIS = 100;

    private final String name;
    private ExecutorService threads;

    CompletionThreads(String name) {
        this.name = name;
    }

    /** Runs a task that may block; the JDK's own pool has one thread on a machine of two cores. */
    void execute(Runnable task) {
        threads().execute(task);
    }

    private synchronized ExecutorService threads() {
        if (threads == null) {
            threads = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, name);
                        thread.setDaemon(true);
                        return thread;
                    });
        }
        return threads;
    }
}

package ferro.control.group;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads for code of users, which may block: listeners, and stages that are chained to operations of a group. There are as
 * many as block at once, each made when it is needed. They end when they are idle, so that this also works after the end
 * of a group.
 */
public final class CompletionThreads {
    private static final long IDLE_MILLIS = 100;

    private final ThreadFactory factory;
    private ExecutorService threads;

    /** Makes an empty pool; its threads are made later. */
    public CompletionThreads(ThreadFactory factory) {
        this.factory = factory;
    }

    /**
     * Runs a task that may block. The JDK's own pool is not used, because it has one thread on a machine of two cores.
     *
     * @throws OutOfMemoryError if no thread is free and the system gives no other; the task is then not run
     */
    public void execute(Runnable task) {
        threads().execute(task);
    }

    private synchronized ExecutorService threads() {
        if (threads == null) {
            threads = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), factory);
        }
        return threads;
    }
}

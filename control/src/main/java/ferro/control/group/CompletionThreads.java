package ferro.control.group;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A pool of threads for user code that may block: listeners, and stages that are chained to operations of a group. The
 * pool creates threads on demand, one for each task that blocks at the same time. Idle threads end by themselves, so no
 * group closes the pool, and the pool also works after the end of a group.
 */
public final class CompletionThreads {
    private static final long IDLE_MILLIS = 100;

    private final ThreadFactory factory;
    private ExecutorService threads;

    /** Creates an empty pool, which creates its threads later. */
    public CompletionThreads(ThreadFactory factory) {
        this.factory = factory;
    }

    /**
     * Runs a task that may block. The common pool of the JDK is not used, because it has one thread on a machine of two
     * cores.
     *
     * @throws OutOfMemoryError if no thread is free and the system provides no new thread; in this case the task does
     *     not run
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

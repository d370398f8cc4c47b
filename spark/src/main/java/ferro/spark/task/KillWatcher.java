package ferro.spark.task;

import ferro.spark.internals.SparkApiAccess;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.spark.TaskContext;

/**
 * A watch that calls a listener once when Spark kills a task. Spark 4.2 and newer notify the watch. With older versions
 * of Spark, a thread polls the task's interrupt flag every 20 ms.
 */
final class KillWatcher implements AutoCloseable {
    private static final long POLL_MILLIS = 20;

    private final TaskContext task;
    private final Consumer<String> killed;
    private final AtomicBoolean notified = new AtomicBoolean();
    private final ScheduledExecutorService polling;

    private KillWatcher(TaskContext task, Consumer<String> killed, ScheduledExecutorService polling) {
        this.task = task;
        this.killed = killed;
        this.polling = polling;
    }

    /** Watches a task until the watch is closed. */
    static KillWatcher over(TaskContext task, Consumer<String> killed) {
        KillWatcher listening = new KillWatcher(task, killed, null);
        if (SparkApiAccess.onInterrupt(task, listening::notifyOnce)) {
            return listening;
        }
        return polling(task, killed);
    }

    /** Watches a task until the watch is closed. A thread polls the task's interrupt flag. */
    static KillWatcher polling(TaskContext task, Consumer<String> killed) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(run -> {
            Thread poller = new Thread(run, "ferro-spark-kill-watch-" + task.partitionId());
            poller.setDaemon(true);
            return poller;
        });
        KillWatcher watch = new KillWatcher(task, killed, thread);
        thread.scheduleWithFixedDelay(watch::poll, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
        return watch;
    }

    private void poll() {
        if (task.isInterrupted()) {
            notifyOnce(task.getKillReason().getOrElse(() -> "killed"));
        }
    }

    private void notifyOnce(String reason) {
        if (!notified.getAndSet(true)) {
            killed.accept(reason);
        }
    }

    @Override
    public void close() {
        notified.set(true);
        if (polling != null) {
            polling.shutdownNow();
        }
    }
}

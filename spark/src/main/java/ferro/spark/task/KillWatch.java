package ferro.spark.task;

import ferro.spark.internals.SparkInternals;
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
final class KillWatch implements AutoCloseable {
    private static final long LOOK_MILLIS = 20;

    private final TaskContext task;
    private final Consumer<String> killed;
    private final AtomicBoolean told = new AtomicBoolean();
    private final ScheduledExecutorService looking;

    private KillWatch(TaskContext task, Consumer<String> killed, ScheduledExecutorService looking) {
        this.task = task;
        this.killed = killed;
        this.looking = looking;
    }

    /** Watches a task until the watch is closed. */
    static KillWatch over(TaskContext task, Consumer<String> killed) {
        KillWatch listening = new KillWatch(task, killed, null);
        if (SparkInternals.onInterrupt(task, listening::tell)) {
            return listening;
        }
        return looking(task, killed);
    }

    /** Watches a task until the watch is closed. A thread polls the task's interrupt flag. */
    static KillWatch looking(TaskContext task, Consumer<String> killed) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(run -> {
            Thread looks = new Thread(run, "ferro-spark-kill-watch-" + task.partitionId());
            looks.setDaemon(true);
            return looks;
        });
        KillWatch watch = new KillWatch(task, killed, thread);
        thread.scheduleWithFixedDelay(watch::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
        return watch;
    }

    private void look() {
        if (task.isInterrupted()) {
            tell(task.getKillReason().getOrElse(() -> "killed"));
        }
    }

    private void tell(String reason) {
        if (!told.getAndSet(true)) {
            killed.accept(reason);
        }
    }

    @Override
    public void close() {
        told.set(true);
        if (looking != null) {
            looking.shutdownNow();
        }
    }
}

package ferro.spark.driver;

import ferro.spark.failure.RankFailure;
import ferro.spark.internals.ScalaConverter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.FetchFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;

/**
 * A listener that records which task runs each rank of one job, and which executors end during the job. Spark calls the
 * listener on one of Spark's own threads.
 */
final class TaskTracker extends SparkListener {
    private static final String TAGS = "spark.job.tags";

    private final String tag;
    private final Map<Integer, TaskInfo> tasks = new TreeMap<>();
    private final Map<String, String> removed = new TreeMap<>();
    private final List<RankFailure> failures = new ArrayList<>();
    private int job = -1;
    private int stage = -1;
    private final Map<Long, TaskInfo> running = new TreeMap<>();
    private boolean ended;

    /** Creates a listener for the job that has the given tag. */
    TaskTracker(String tag) {
        this.tag = tag;
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart start) {
        Properties properties = start.properties();
        String tags = properties == null ? null : properties.getProperty(TAGS);
        if (tags != null && List.of(tags.split(",")).contains(tag)) {
            job = start.jobId();
            for (StageInfo one : ScalaConverter.stages(start)) {
                stage = Math.max(stage, one.stageId());
            }
        }
    }

    @Override
    public synchronized void onTaskStart(SparkListenerTaskStart start) {
        if (start.stageId() == stage) {
            tasks.put(start.taskInfo().partitionId(), start.taskInfo());
            running.put(start.taskInfo().taskId(), start.taskInfo());
        }
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
        running.remove(end.taskInfo().taskId());
        notifyAll();
        int rank = end.taskInfo().partitionId();
        if (end.reason() instanceof ExecutorLostFailure loss) {
            // Spark sends this event before the event that says that the executor was removed
            removed.putIfAbsent(
                    loss.execId(), loss.reason().isDefined() ? loss.reason().get() : "no reason");
        }
        if (end.stageId() == stage && end.reason() instanceof FetchFailed fetch) {
            failures.add(RankFailure.ofFetch(rank, fetch.message()));
        } else if (end.stageId() == stage && end.reason() instanceof ExceptionFailure failure) {
            failures.add(
                    failure.exception().isDefined()
                            ? RankFailure.of(rank, failure.exception().get(), new byte[0])
                            : RankFailure.ofSpark(rank, failure.className(), failure.description()));
        }
    }

    @Override
    public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved end) {
        removed.put(end.executorId(), end.reason());
        running.values().removeIf(task -> task.executorId().equals(end.executorId()));
        notifyAll();
    }

    @Override
    public synchronized void onJobEnd(SparkListenerJobEnd end) {
        if (end.jobId() == job) {
            ended = true;
            notifyAll();
        }
    }

    /** Blocks until Spark has reported the end of the job and of all its tasks, or until the given time has passed. */
    synchronized void awaitEnd(long millis) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            for (long left = millis; !(ended && running.isEmpty()) && left > 0; ) {
                wait(left);
                left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            }
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns descriptions of the tasks that have not ended. These tasks still occupy their slots. */
    synchronized List<String> unended() {
        return running.values().stream()
                .map(task -> "rank " + task.partitionId() + ", task " + task.taskId() + " on " + executor(task))
                .toList();
    }

    /**
     * Returns reports, created from Spark's task events, for failed ranks that have sent no report of their own. The
     * tasks of such ranks failed before ferro's code ran.
     */
    synchronized List<RankFailure> unreported(List<RankFailure> reports) {
        return failures.stream()
                .filter(seen -> reports.stream().noneMatch(report -> report.rank() == seen.rank()))
                .toList();
    }

    /** Returns a description of the task that runs a rank. */
    synchronized String task(int rank) {
        return Optional.ofNullable(tasks.get(rank))
                .map(task -> "task " + task.taskId() + " of stage " + stage + " on " + executor(task))
                .orElse("a task that has not started");
    }

    private static String executor(TaskInfo task) {
        return task.executorId().equals("driver")
                ? "the driver"
                : "executor " + task.executorId() + " (" + task.host() + ")";
    }

    /** Returns the executors that ended while they ran ranks. Each entry has all ranks of its executor. */
    synchronized List<LostExecutor> lost() {
        List<LostExecutor> lost = new ArrayList<>();
        for (Map.Entry<String, String> one : removed.entrySet()) {
            List<Integer> ranks = tasks.entrySet().stream()
                    .filter(task -> task.getValue().executorId().equals(one.getKey()))
                    .map(Map.Entry::getKey)
                    .toList();
            if (!ranks.isEmpty()) {
                lost.add(new LostExecutor(one.getKey(), tasks.get(ranks.get(0)).host(), ranks, one.getValue()));
            }
        }
        return lost;
    }

    /**
     * An executor that has ended.
     *
     * @param id     the id of the executor
     * @param host   the host of the executor
     * @param ranks  the ranks that ran in the executor
     * @param reason the reason that Spark gives
     */
    record LostExecutor(String id, String host, List<Integer> ranks, String reason) {}
}

package ferro.spark;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskStart;

/** Kills the task of one rank through the driver, once. Spark calls the listener on one of Spark's own threads. */
public final class TaskKiller extends SparkListener implements AutoCloseable {
    private static final long KILLED = -2;

    private final JavaSparkContext spark;
    private final int rank;
    private final AtomicLong task = new AtomicLong(-1);
    private volatile long killedMillis;

    private TaskKiller(JavaSparkContext spark, int rank) {
        this.spark = spark;
        this.rank = rank;
    }

    /** Looks for the task of a rank of the jobs that start from now on. */
    public static TaskKiller of(JavaSparkContext spark, int rank) {
        TaskKiller killer = new TaskKiller(spark, rank);
        spark.sc().addSparkListener(killer);
        return killer;
    }

    @Override
    public void onTaskStart(SparkListenerTaskStart start) {
        if (start.taskInfo().index() == rank) {
            task.compareAndSet(-1, start.taskInfo().taskId());
        }
    }

    public void kill() {
        long started = task.get();
        if (started >= 0 && task.compareAndSet(started, KILLED)) {
            killedMillis = System.currentTimeMillis();
            spark.sc().killTaskAttempt(started, true, "a test kills rank " + rank);
        }
    }

    public long killedMillis() {
        if (killedMillis == 0) {
            throw new IllegalStateException("the task of rank " + rank + " was not killed");
        }
        return killedMillis;
    }

    @Override
    public void close() {
        spark.sc().removeSparkListener(this);
    }
}

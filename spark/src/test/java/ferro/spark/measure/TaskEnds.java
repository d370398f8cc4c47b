package ferro.spark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** A listener for the ends of tasks. Spark calls the listener on one of Spark's own threads. */
final class TaskEnds extends SparkListener {
    private final JavaSparkContext spark;
    private final List<Long> finished = new ArrayList<>();
    private long bytes;

    private TaskEnds(JavaSparkContext spark) {
        this.spark = spark;
    }

    static TaskEnds of(JavaSparkContext spark) {
        TaskEnds ends = new TaskEnds(spark);
        awaitEvents(spark); // of earlier jobs
        spark.sc().addSparkListener(ends);
        return ends;
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
        finished.add(end.taskInfo().finishTime());
        bytes += end.taskMetrics() == null ? 0 : end.taskMetrics().resultSize();
        notifyAll();
    }

    private static void awaitEvents(JavaSparkContext spark) {
        try {
            spark.sc().listenerBus().waitUntilEmpty();
        } catch (TimeoutException late) {
            throw new IllegalStateException("Spark still tells of tasks: " + late, late);
        }
    }

    long resultBytes() {
        awaitEvents(spark);
        spark.sc().removeSparkListener(this);
        synchronized (this) {
            return bytes;
        }
    }

    /** Blocks until a number of tasks have ended. Returns the end of the last task in milliseconds since 1970. */
    long lastOf(int count) throws InterruptedException {
        synchronized (this) {
            while (finished.size() < count) {
                wait(60_000);
            }
        }
        spark.sc().removeSparkListener(this);
        return finished.stream().mapToLong(Long::longValue).max().orElseThrow();
    }
}

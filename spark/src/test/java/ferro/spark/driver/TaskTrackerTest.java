package ferro.spark.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.driver.TaskTracker.LostExecutor;
import java.util.List;
import java.util.Properties;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.immutable.List$;

/** Tests with events of Spark's scheduler. Stage 7 has rank 0 on executor 1, and ranks 1 and 2 on executor 2. */
class TaskTrackerTest {
    private static final int STAGE = 7;
    private static final String[] EXECUTORS = {"1", "2", "2"};
    private final TaskTracker watch = new TaskTracker("ferro-job.0");
    private final TaskInfo[] tasks = new TaskInfo[EXECUTORS.length];

    TaskTrackerTest() {
        Properties properties = new Properties();
        properties.setProperty("spark.job.tags", "other,ferro-job.0");
        watch.onJobStart(new SparkListenerJobStart(
                3, 0, TaskTrackerTest.<StageInfo>empty().$colon$colon(stage()), properties));
        for (int rank = 0; rank < tasks.length; rank++) {
            tasks[rank] =
                    new TaskInfo(100 + rank, rank, 0, rank, 0, EXECUTORS[rank], "host", TaskLocality.ANY(), false);
            watch.onTaskStart(new SparkListenerTaskStart(STAGE, 0, tasks[rank]));
        }
    }

    private static StageInfo stage() {
        return new StageInfo(STAGE, 0, "stage", 3, empty(), empty(), "", null, empty(), Option.empty(), 0, false, 0);
    }

    private static <T> scala.collection.immutable.List<T> empty() {
        return List$.MODULE$.empty();
    }

    private void end(int rank, TaskEndReason reason) {
        watch.onTaskEnd(new SparkListenerTaskEnd(
                STAGE, 0, "ResultTask", reason, tasks[rank], new ExecutorMetrics(), TaskMetrics.empty()));
    }

    /** Spark sends the event of the lost executor after the end of the job, or never. */
    @Test
    void anExecutorIsLostWhenItsTasksAreLost() {
        end(1, new ExecutorLostFailure("2", true, Option.apply("exit code 137")));

        assertEquals(List.of(new LostExecutor("2", "host", List.of(1, 2), "exit code 137")), watch.lost());
    }

    @Test
    void unendedTasksAreNamedWithTheirExecutors() {
        end(0, Success$.MODULE$);
        end(2, Success$.MODULE$);

        assertEquals(List.of("rank 1, task 101 on executor 2 (host)"), watch.unended());
    }

    /** Spark sends no end of a task whose executor is gone. */
    @Test
    void theWaitEndsWhenTheExecutorOfTheLastTasksIsRemoved() throws InterruptedException {
        end(0, Success$.MODULE$);
        watch.onJobEnd(new SparkListenerJobEnd(3, 0, JobSucceeded$.MODULE$));
        Thread waiting = new Thread(() -> watch.awaitEnd(60_000));
        waiting.start();
        for (int round = 0; waiting.getState() != Thread.State.TIMED_WAITING; round++) {
            assertTrue(round < 10_000, "no thread waits for the end");
            waiting.join(1);
        }

        watch.onExecutorRemoved(new SparkListenerExecutorRemoved(0, "2", "exit code 137"));

        waiting.join(10_000);
        assertFalse(waiting.isAlive());
    }
}

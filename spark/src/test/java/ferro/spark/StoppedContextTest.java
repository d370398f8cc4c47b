package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of jobs on a stopped application, and of an application that is stopped while a job waits for slots. */
@Tag("cluster")
class StoppedContextTest {
    private static final String OF_SPARK = "Cannot call methods on a stopped SparkContext";

    @Test
    void aStoppedContextIsRefusedWithTheExceptionOfSpark() {
        JavaSparkContext spark = new JavaSparkContext(SharedSpark.conf("local[2]"));
        JavaRDD<Integer> rows = SharedSpark.rows(spark, 2);
        FerroSpark ferro = FerroSpark.on(spark);
        spark.close();

        IllegalStateException run = assertThrows(IllegalStateException.class, () -> ferro.run(rows, (rank, own) -> 1));
        IllegalStateException on = assertThrows(IllegalStateException.class, () -> FerroSpark.on(spark));

        assertTrue(run.getMessage().startsWith(OF_SPARK), run.getMessage());
        assertTrue(on.getMessage().startsWith(OF_SPARK), on.getMessage());
    }

    @Test
    void aJobThatWaitsForSlotsEndsWhenItsContextIsStopped() throws Exception {
        JavaSparkContext spark = TestCluster.start(1, new SparkConf(false));
        JavaRDD<Integer> rows = SharedSpark.rows(spark, 2);
        CompletableFuture<String> line = new CompletableFuture<>();
        Handler handler = completing(line);
        Logger log = Logger.getLogger("ferro.spark");
        log.addHandler(handler);
        try {
            CompletableFuture<Integer> job = CompletableFuture.supplyAsync(() -> FerroSpark.on(spark)
                    .timeout(Duration.ofSeconds(1))
                    .slotTimeout(Duration.ofMinutes(5))
                    .ranks(90)
                    .run(rows, (rank, own) -> 1));

            // the deadline of calls does not end the wait for slots
            String waiting = line.get(60, TimeUnit.SECONDS);
            assertTrue(
                    waiting.matches(
                            "waiting for 90 slots: found [0-2] on [01] executors? after [0-9]+ s of 300 s \\(.slotTimeout\\)"),
                    waiting);
            spark.close();

            ExecutionException ended = assertThrows(ExecutionException.class, () -> job.get(60, TimeUnit.SECONDS));
            assertEquals(IllegalStateException.class, ended.getCause().getClass(), ended.toString());
            assertTrue(ended.getCause().getMessage().startsWith(OF_SPARK), ended.toString());
        } finally {
            log.removeHandler(handler);
            spark.close();
        }
    }

    private static Handler completing(CompletableFuture<String> line) {
        return new Handler() {
            @Override
            public void publish(LogRecord event) {
                if (event.getMessage().startsWith("waiting for")) {
                    line.complete(event.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }
}

package ferro.lightgbm.spark;

import static ferro.lightgbm.spark.SampleData.SERIAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.FerroSpark;
import ferro.spark.TestCluster;
import ferro.spark.failure.FerroSparkException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Tests with two executor processes that run two ranks each. A test kills an executor with {@code kill -9} during the
 * training, as the kernel does if memory runs out.
 */
@Tag("cluster")
@Timeout(300)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LightGbmClusterTest {
    private static final String REGRESSION = "objective=regression metric=l2 num_threads=1 " + SERIAL;
    private static final int ROWS = 500;
    private static final int ITERATIONS = 100;
    private static final int FEW = 4;
    /** Less than the deadline of a call, after which a rank that hangs would end. */
    private static final Duration SECONDS = Duration.ofSeconds(30);

    private static final Duration DEADLINE = Duration.ofSeconds(120);
    private static final long NOT_YET = -1;

    private static JavaSparkContext spark;

    @BeforeAll
    static void startCluster() throws IOException {
        spark = TestCluster.start(2, new SparkConf(false));
    }

    @AfterAll
    static void endCluster() {
        spark.close();
    }

    @Test
    void theModelOfTwoExecutorsIsThatOfTheSameRowsWithoutSpark() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", ROWS);

        String model = LightGbmOnFerro.on(ferro()).iterations(FEW).train(rows, REGRESSION);

        assertEquals(SampleData.withoutSpark(ROWS, FEW, REGRESSION), model);
    }

    @Test
    void anotherAttemptAfterAKillGivesTheModelOfAnUndisturbedTraining() {
        Dataset<Row> rows = SampleData.dataset(spark, "vector", ROWS);
        String undisturbed = trainer(ferro()).train(rows, REGRESSION);

        Victim victim = new Victim();
        List<Integer> begun = new CopyOnWriteArrayList<>();
        String model = trainer(ferro().attempts(2).onProgress(report -> {
                    victim.kill();
                    if (report.step() == 1) {
                        begun.add(report.rank());
                    }
                }))
                .train(rows, REGRESSION);

        assertEquals(undisturbed, model);
        assertTrue(
                begun.size() > Set.copyOf(begun).size(), () -> "no rank has trained iteration 1 twice, but " + begun);
        assertFalse(pids().containsKey(victim.executor), () -> victim.executor + " still runs");
    }

    /** Comes last, so that no test has to wait for another executor. */
    @Test
    @Order(Integer.MAX_VALUE)
    void aKilledExecutorIsNamed() {
        Dataset<Row> rows = SampleData.dataset(spark, "vector", ROWS);
        Victim victim = new Victim();

        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> trainer(ferro().onProgress(report -> victim.kill())).train(rows, REGRESSION));

        Duration sinceKill = victim.sinceKill();
        assertTrue(sinceKill.compareTo(SECONDS) < 0, () -> "failed " + sinceKill + " after the kill");
        assertTrue(
                failure.getMessage()
                        .matches("(?s).* failed: executor " + victim.executor
                                + " on 127.0.0.1 with ranks [0-3], [0-3] was lost: .*137.*; rank [0-3]: PEER_LOST:"
                                + " LightGBM iteration [0-9]+ on rank [0-3] of 4, host .*, no model: .* ranks? [0-3](, [0-3])?"
                                + " [(]pid " + victim.pid + " on host .*"),
                failure.getMessage());
    }

    private static FerroSpark ferro() {
        return FerroSpark.on(spark).timeout(DEADLINE);
    }

    private static LightGbmOnFerro trainer(FerroSpark runner) {
        return LightGbmOnFerro.on(runner).iterations(ITERATIONS);
    }

    private static Map<String, Long> pids() {
        Map<String, Long> pids = new TreeMap<>();
        for (String line : ferro().runAll(
                        SampleData.perRank(spark),
                        (rank, rows) -> SparkEnv.get().executorId() + " "
                                + ProcessHandle.current().pid())) {
            pids.put(line.split(" ")[0], Long.valueOf(line.split(" ")[1]));
        }
        return pids;
    }

    private static final class Victim {
        final String executor;
        final long pid;
        private final AtomicLong killedNanos = new AtomicLong(NOT_YET);

        Victim() {
            Map.Entry<String, Long> one = pids().entrySet().iterator().next();
            executor = one.getKey();
            pid = one.getValue();
        }

        void kill() {
            if (killedNanos.compareAndSet(NOT_YET, System.nanoTime())) {
                try {
                    new ProcessBuilder("kill", "-9", "" + pid).start();
                } catch (IOException missing) {
                    throw new UncheckedIOException(missing);
                }
            }
        }

        Duration sinceKill() {
            assertTrue(killedNanos.get() != NOT_YET, "not killed");
            return Duration.ofNanos(System.nanoTime() - killedNanos.get());
        }
    }
}

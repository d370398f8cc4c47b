package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.spark.failure.FerroSparkException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests with two executor processes that run two ranks each. The processes authenticate each other with a secret. */
@Tag("cluster")
class SparkClusterTest {
    private static JavaSparkContext spark;

    private FerroSpark ferro() {
        return FerroSpark.on(spark);
    }

    private static JavaRDD<Integer> rows() {
        return SharedSpark.rows(spark, SharedSpark.RANKS);
    }

    @BeforeAll
    static void startCluster() throws IOException {
        spark = TestCluster.start(
                2,
                new SparkConf(false)
                        .set("spark.driver.maxResultSize", "4m")
                        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
                        .set("spark.kryo.registrationRequired", "true"));
    }

    @AfterAll
    static void endCluster() {
        spark.close();
    }

    /** A map or a shuffle creates a new RDD, which does not have the profile itself. */
    @Test
    void tasksHaveTheResourceProfileOfTheirRows() {
        ResourceProfile twoCores = new ResourceProfileBuilder()
                .require(new TaskResourceRequests().cpus(2))
                .build();
        JavaRDD<Integer> mapped = rows().withResources(twoCores).map(row -> row);
        // this job waits until both executors have registered
        assertEquals(
                SharedSpark.RANKS, ferro().runAll(rows(), (rank, rows) -> 1).size());

        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class,
                () -> ferro().slotTimeout(Duration.ofSeconds(1)).run(mapped, (rank, rows) -> 1));
        assertTrue(
                refusal.getMessage()
                        .matches(
                                "4 ranks need 4 slots at once, found 2: 2 executors of 1 slots each .*CPUs per task 2.*"),
                refusal.getMessage());
        assertEquals(
                List.of(2, 2),
                ferro().ranks(2)
                        .runAll(mapped, (rank, rows) -> TaskContext.get().cpus()));
    }

    @Test
    void aFailureBeforeTheJoinNamesItsRankAndEndsTheOthers() {
        JavaRDD<Integer> bad = rows().mapPartitions(rows -> {
            int row = rows.next();
            if (row == 2) {
                throw new IllegalStateException("partition 1 cannot be read");
            }
            return List.of(row).iterator();
        });

        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> ferro().run(bad, (rank, rows) -> {
                    rank.group().barrier();
                    return 1;
                }));

        assertTrue(failure.getMessage().contains("rank 1, task"), failure.getMessage());
        assertTrue(failure.getMessage().contains("partition 1 cannot be read"), failure.getMessage());
    }

    @Test
    void tooLargeResultsAreRefusedWithTheSettingOfSpark() {
        FerroSparkException failure =
                assertThrows(FerroSparkException.class, () -> ferro().run(rows(), (rank, rows) -> new byte[8 << 20]));
        assertTrue(failure.getMessage().contains("spark.driver.maxResultSize"), failure.getMessage());
    }

    /**
     * The test kills a process as the kernel does if memory runs out. The ranks of the other executor learn of the kill
     * from ferro.
     */
    @Test
    void aKilledExecutorIsNamedAndTheJobIsRetried() {
        FerroSparkException failure = assertThrows(FerroSparkException.class, () -> shot(1));
        assertTrue(
                failure.getMessage()
                        .matches("(?s).* failed: executor [0-9]+ on .* with ranks [0-3], [0-3] was lost: .*137.*"
                                + "; rank [0-3]: PEER_LOST: .*"),
                failure.getMessage());
        assertEquals(List.of(1, 1, 1, 1), shot(2));
    }

    private List<Integer> shot(int attempts) {
        return ferro().timeout(Duration.ofSeconds(60)).attempts(attempts).runAll(rows(), (rank, rows) -> {
            rank.group().barrier();
            if (rank.attempt() == 0 && rank.group().rank() == 2) {
                new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start();
            }
            if (rank.attempt() == 0) {
                // this call ends by the kill, or by the failure that the kill causes
                for (int step = 0; true; step++) {
                    rank.group().allReduce(new int[] {step}, ReduceOp.SUM);
                }
            }
            rank.group().barrier();
            return rank.attempt();
        });
    }

    /** Spark kills one task, for example because an administrator asks for it. The attempt is the generation of the group. */
    @Test
    void aTaskThatSparkKillsIsRetriedInTheNextGeneration() {
        try (TaskKiller killer = TaskKiller.of(spark, 2)) {
            List<String> ends = ferro().timeout(Duration.ofSeconds(60))
                    .attempts(2)
                    .onProgress(report -> killer.kill())
                    .runAll(rows(), (rank, rows) -> {
                        int[] sum = {rows.next()};
                        for (int step = 1; rank.attempt() == 0; step++) {
                            rank.progress(step, Map.of());
                            rank.group().allReduce(new int[] {step}, ReduceOp.SUM);
                        }
                        rank.group().allReduce(sum, ReduceOp.SUM);
                        return sum[0] + " in generation " + rank.group().generation();
                    });

            assertEquals(Collections.nCopies(SharedSpark.RANKS, "10 in generation 1"), ends);
            assertTrue(killer.killedMillis() > 0);
        }
    }

    /**
     * The test detects one leak in ten jobs. Fewer resources may be a connection that Spark opens, or a class file.
     */
    @Test
    void fortyMoreJobsUseNoMoreResources() throws IOException {
        int least = 4;
        barriers(10);
        Map<Long, ProcessCounts> atTen = counts();

        barriers(40);

        Map<Long, ProcessCounts> atFifty = counts();
        assertEquals(atTen.keySet(), atFifty.keySet(), "processes");
        Map<Long, List<String>> grown = new TreeMap<>();
        atFifty.forEach((pid, now) -> grown.put(pid, now.grownBy(least, atTen.get(pid))));
        grown.values().removeIf(List::isEmpty);
        assertEquals(Map.of(), grown, "what has grown by " + least + " or more in 40 jobs, by process");
    }

    private void barriers(int jobs) {
        for (int job = 0; job < jobs; job++) {
            ferro().run(rows(), (rank, rows) -> {
                rank.group().barrier();
                return 1;
            });
        }
    }

    /** Counts the resources of both executors and of the driver, after ferro has released all its resources there. */
    private static Map<Long, ProcessCounts> counts() throws IOException {
        List<String> left = EveryExecutor.fact(rows(), ExecutorLeftovers::ofThisProcess);
        assertEquals(Collections.nCopies(SharedSpark.RANKS, ""), left);
        assertEquals("", ExecutorLeftovers.ofThisProcess());
        Map<Long, ProcessCounts> all = new TreeMap<>();
        List<String> said = new ArrayList<>(EveryExecutor.fact(rows(), ProcessCounts::ofThisProcess));
        said.add(ProcessCounts.ofThisProcess());
        for (String one : said) {
            ProcessCounts counts = ProcessCounts.parse(one);
            all.put(counts.pid(), counts);
        }
        assertEquals(3, all.size(), "two executors and the driver: " + all.keySet());
        return all;
    }
}

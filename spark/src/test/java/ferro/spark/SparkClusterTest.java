package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.spark.failure.FerroSparkException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @Test
    void ranksOfTwoProcessesHaveTheSameSum() {
        List<Integer> sums = ferro().runAll(rows(), (rank, rows) -> {
            int[] sum = {rows.next()};
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0];
        });

        assertEquals(Collections.nCopies(SharedSpark.RANKS, 10), sums);
    }

    /** A map or a shuffle creates a new RDD, which does not have the profile itself. */
    @Test
    void tasksTakeWhatTheResourceProfileOfTheirRowsSays() {
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
    void exceptionOfARankNamesItsExecutor() {
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> ferro().run(rows(), (rank, rows) -> {
                    if (rank.group().rank() == 2) {
                        throw new IllegalStateException("row 17 is bad");
                    }
                    rank.group().barrier();
                    return 1;
                }));

        assertTrue(
                failure.getMessage()
                        .matches("(?s).* failed on rank 2, task [0-9]+ of stage [0-9]+ on executor [0-9]+ \\(.*\\):"
                                + " IllegalStateException: row 17 is bad"),
                failure.getMessage());
        assertTrue(
                failure.getCause().getMessage().contains("row 17 is bad"),
                failure.getCause().getMessage());
    }

    @Test
    void failureBeforeJoiningNamesItsRankAndEndsTheOthers() {
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
    void resultsThatAreTooLargeAreRefusedWithTheNameOfSparksSetting() {
        FerroSparkException failure =
                assertThrows(FerroSparkException.class, () -> ferro().run(rows(), (rank, rows) -> new byte[8 << 20]));
        assertTrue(failure.getMessage().contains("spark.driver.maxResultSize"), failure.getMessage());
    }

    /** Each medium is tested with the store at the driver and with the store at rank 0. */
    @ParameterizedTest
    @CsvSource({"auto,false", "auto,true", "tcp,false", "tcp,true"})
    void ranksHaveTheSameSumByEachMediumAndMeetingPlace(String links, boolean atRankZero) {
        FerroSpark way = ferro().setting("ferro.links", links);
        List<String> sums = (atRankZero ? way.storeOnRankZero() : way).runAll(rows(), (rank, rows) -> {
            long[] sum = new long[100_000];
            Arrays.fill(sum, rows.next());
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0] + " " + sum[sum.length - 1] + " " + rank.group().linkReport();
        });
        assertEquals(SharedSpark.RANKS, sums.size());
        String found = links.equals("tcp") ? " do not share memory: ferro.links=tcp" : "10 10 all 4 ranks share memory";
        sums.forEach(sum -> assertTrue(sum.startsWith("10 10 ") && sum.endsWith(found), sum));
    }

    @Test
    void failureOfARankIsNamedWithoutAStoreOfTheDriver() {
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> ferro().storeOnRankZero().run(rows(), (rank, rows) -> {
                    if (rank.group().rank() == 2) {
                        throw new IllegalStateException("row 17 is bad");
                    }
                    rank.group().barrier();
                    return 1;
                }));
        assertTrue(failure.getMessage().contains(" failed on rank 2, task "), failure.getMessage());
        assertTrue(failure.getMessage().contains("row 17 is bad"), failure.getMessage());
    }

    @Test
    void executorThatEndsAtOnceIsNamedWithItsRanks() {
        FerroSparkException failure = assertThrows(FerroSparkException.class, () -> killed(1));

        assertTrue(
                failure.getMessage()
                        .matches("(?s).* failed: executor [0-9]+ on .* with ranks [0-3], [0-3] was lost: .*"),
                failure.getMessage());
    }

    @Test
    void jobIsTriedAgainWhenAnExecutorWasLost() {
        assertEquals(List.of(1, 1, 1, 1), killed(2));
    }

    /**
     * Runs a job in whose first attempt rank 2 ends its process as a kill does. Returns the attempt in which each rank
     * ended.
     */
    private List<Integer> killed(int attempts) {
        return ferro().attempts(attempts).runAll(rows(), (rank, rows) -> {
            rank.group().barrier();
            if (rank.attempt() == 0 && rank.group().rank() == 2) {
                Runtime.getRuntime().halt(137);
            }
            rank.group().barrier();
            return rank.attempt();
        });
    }

    /**
     * The test kills a process as the kernel does if memory runs out. The ranks of the other executor learn of the kill
     * from ferro.
     */
    @Test
    void executorThatIsKilledIsNamedWithItsRanksAndTheJobIsTriedAgain() {
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
    void aTaskThatSparkKillsIsTriedAgainInTheNextGeneration() {
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
    void fromJobTenToJobFiftyNothingGrowsInTheExecutorsAndTheDriver() throws IOException {
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

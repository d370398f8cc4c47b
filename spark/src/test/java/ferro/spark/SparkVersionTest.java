package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.internals.SparkApiAccess;
import ferro.spark.rank.RankFunction;
import ferro.spark.rank.SparkRank;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Function2;
import scala.collection.Iterator;
import scala.util.Properties;

/**
 * The tests that run with each supported version of Spark. The ranks run in two executor processes. The tests use every
 * part of the module that depends on Spark, on Scala or on a library of Spark.
 */
@Tag("cluster")
@Tag("version")
class SparkVersionTest {
    private static JavaSparkContext spark;

    @BeforeAll
    static void startCluster() throws IOException {
        spark = TestCluster.start(2, new SparkConf(false));
    }

    @AfterAll
    static void endCluster() {
        spark.close();
    }

    private static FerroSpark ferro() {
        return FerroSpark.on(spark);
    }

    private static JavaRDD<Integer> rows() {
        return SharedSpark.rows(spark, SharedSpark.RANKS);
    }

    @Test
    void theTestedVersionsAreThoseOfTheModule() {
        assertEquals(System.getProperty("spark.test.version"), spark.version());
        String found = Properties.versionNumberString();
        assertTrue(found.startsWith(System.getenv("SPARK_SCALA_VERSION") + "."), found);
    }

    @Test
    void sparkNotifiesAListenerOfAKillFromVersion42On() throws Exception {
        CompletableFuture<String> killed = new CompletableFuture<>();
        TaskContext task = TaskContext$.MODULE$.empty();

        boolean listens = SparkApiAccess.onInterrupt(task, killed::complete);

        assertEquals(spark.version().compareTo("4.2") >= 0, listens);
        if (listens) {
            task.markInterrupted("a test");
            assertEquals("a test", killed.get(30, TimeUnit.SECONDS));
        }
    }

    /** Each medium is tested with the store at the driver and with the store at rank 0. */
    @ParameterizedTest
    @CsvSource({"auto,false", "auto,true", "tcp,false", "tcp,true"})
    void ranksHaveTheSameSumOverEachMediumAndStore(String links, boolean atRankZero) {
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

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anExceptionOfARankNamesItsTaskAndItsExecutor(boolean atRankZero) {
        FerroSpark way = atRankZero ? ferro().storeOnRankZero() : ferro();
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> way.run(rows(), (rank, rows) -> {
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
        assertTrue(failure.getCause().getMessage().contains("row 17 is bad"), () -> "" + failure.getCause());
    }

    @Test
    void stateFromBeforeALostExecutorIsRestored(@TempDir Path folder) {
        List<String> states = ferro().attempts(2)
                .checkpoint(folder.toUri().toString())
                .runAll(rows(), (rank, rows) -> {
                    String before = rank.restore()
                            .map(state -> state.step() + ":" + new String(state.state()))
                            .orElse("none");
                    rank.checkpoint(rank.attempt() + 1, ("rank " + rank.group().rank()).getBytes());
                    if (rank.attempt() == 0 && rank.group().rank() == 2) {
                        Runtime.getRuntime().halt(137);
                    }
                    rank.group().barrier();
                    return before;
                });

        assertEquals(List.of("1:rank 0", "1:rank 1", "1:rank 2", "1:rank 3"), states);
    }

    /** A union has more than one dependency, and Spark refuses it in a barrier stage. */
    @Test
    void rowsOfAUnionAreShuffled() {
        JavaRDD<Integer> union = SharedSpark.rows(spark, 2).union(SharedSpark.rows(spark, 2));

        List<Integer> sums = ferro().runAll(union, (rank, rows) -> {
            int[] sum = {0};
            rows.forEachRemaining(row -> sum[0] += row);
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0];
        });

        assertEquals(Collections.nCopies(SharedSpark.RANKS, 6), sums);
    }

    @Test
    void rowsOfADatasetAreRead() {
        SparkSession session = SparkSession.builder().sparkContext(spark.sc()).getOrCreate();

        long sum = FerroSpark.on(session).ranks(2).run(session.range(10), (rank, rows) -> {
            long[] own = {0};
            rows.forEachRemaining(row -> own[0] += row);
            rank.group().allReduce(own, ReduceOp.SUM);
            return own[0];
        });

        assertEquals(45, sum);
    }

    /** A function in the form that the Scala compiler produces. */
    @Test
    void aFunctionOfScalaGetsRowsOfScala() {
        Function2<SparkRank, Iterator<Integer>, Integer> sum =
                (Function2<SparkRank, Iterator<Integer>, Integer> & Serializable) (rank, rows) -> {
                    int[] own = {0};
                    while (rows.hasNext()) {
                        own[0] += rows.next();
                    }
                    rank.group().allReduce(own, ReduceOp.SUM);
                    return own[0];
                };

        assertEquals(10, ferro().run(rows().rdd(), sum));
        assertEquals(List.of(10, 10, 10, 10), ferro().runAll(rows().rdd(), sum));
    }

    /** Returns a function that reports progress, and then makes calls until one fails. A second attempt ends at once. */
    private static RankFunction<Integer, Object> waiting() {
        return (rank, rows) -> {
            rank.progress(1, Map.of());
            while (rank.attempt() == 0) {
                rank.group().barrier();
            }
            return 1;
        };
    }

    @Test
    void cancellingAJobEndsRanksInACall() throws Exception {
        CompletableFuture<Void> running = new CompletableFuture<>();
        CompletableFuture<Object> job = CompletableFuture.supplyAsync(() -> {
            spark.setJobGroup("cancelled", "a job to cancel", false);
            return ferro().attempts(3)
                    .onProgress(report -> running.complete(null))
                    .run(rows(), waiting());
        });
        running.get(60, TimeUnit.SECONDS);

        spark.cancelJobGroup("cancelled");

        Throwable failure = assertThrows(Exception.class, () -> job.get(60, TimeUnit.SECONDS))
                .getCause();
        assertInstanceOf(FerroSparkException.class, failure);
        assertTrue(failure.getMessage().contains("was cancelled"), failure.getMessage());
        // another job needs the slots of all ranks
        assertEquals(List.of(1, 1, 1, 1), ferro().runAll(rows(), (rank, rows) -> 1));
    }

    @Test
    void interruptingTheDriverThreadEndsTheJob() throws Exception {
        CompletableFuture<Throwable> failed = new CompletableFuture<>();
        CompletableFuture<Void> running = new CompletableFuture<>();
        Thread driver = new Thread(
                () -> failed.complete(assertThrows(
                        FerroSparkException.class,
                        () -> ferro().onProgress(report -> running.complete(null))
                                .run(rows(), waiting()))),
                "test-driver");
        driver.start();
        running.get(60, TimeUnit.SECONDS);

        driver.interrupt();

        String message = failed.get(60, TimeUnit.SECONDS).getMessage();
        assertTrue(message.contains("was interrupted"), message);
        // this job needs the slots of the interrupted one
        assertEquals(
                SharedSpark.RANKS, ferro().runAll(rows(), (rank, rows) -> 1).size());
    }
}

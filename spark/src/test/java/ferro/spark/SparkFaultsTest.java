package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.spark.failure.FerroSparkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of faults in Spark, and of both rendezvous modes. Threads of one process are the executors. */
class SparkFaultsTest {
    private static volatile CountDownLatch end;
    private static volatile CyclicBarrier both;

    private final FerroSpark ferro = SharedSpark.ferro();

    /** Spark recognises a failed fetch by the type of the exception, and computes the rows again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailedFetchIsRetriedWithANewShuffle(boolean atRankZero) throws IOException {
        FerroSpark way = atRankZero ? ferro.storeOnRankZero() : ferro;
        FerroSparkException failure = assertThrows(FerroSparkException.class, () -> sums(way, brokenShuffle()));
        assertTrue(failure.getMessage().contains("FetchFailedException"), failure.getMessage());

        assertEquals(Collections.nCopies(SharedSpark.RANKS, 110), sums(way.attempts(2), brokenShuffle()));
    }

    private static List<Integer> sums(FerroSpark way, JavaRDD<Integer> shuffled) {
        return way.runAll(shuffled, (rank, rows) -> {
            int[] sum = {0};
            rows.forEachRemaining(row -> sum[0] += row);
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0] + 100 * rank.group().generation();
        });
    }

    /** Returns rows of a shuffle that has run. The shuffle files of one task have been deleted. */
    private static JavaRDD<Integer> brokenShuffle() throws IOException {
        Set<String> before = shuffleFiles().keySet();
        JavaRDD<Integer> shuffled = SharedSpark.rows().repartition(SharedSpark.RANKS);
        assertEquals(SharedSpark.RANKS, shuffled.count());
        Map<String, Path> made = shuffleFiles();
        made.keySet().removeAll(before);
        String one = made.keySet().iterator().next().replaceAll("[.].*", "");
        for (Map.Entry<String, Path> file : made.entrySet()) {
            if (file.getKey().startsWith(one)) {
                Files.delete(file.getValue());
            }
        }
        return shuffled;
    }

    private static Map<String, Path> shuffleFiles() throws IOException {
        Path local = Path.of(SharedSpark.context().getConf().get("spark.local.dir"));
        Map<String, Path> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(local)) {
            all.filter(file -> file.getFileName().toString().startsWith("shuffle_"))
                    .forEach(file -> found.put(file.getFileName().toString(), file));
        }
        return found;
    }

    /** Spark throws its own exception from the iterator of rows in a killed task. */
    @Test
    void aRankThatSparkKillsDuringItsRowsIsNotBlamed() {
        end = new CountDownLatch(1);
        // the iterator of these rows checks for a kill; the rows of one rank take 20 s
        List<Integer> numbers = Collections.nCopies(SharedSpark.RANKS * 2_000, 1);
        JavaRDD<Integer> slow = SharedSpark.context()
                .parallelize(numbers, SharedSpark.RANKS)
                .map(row -> {
                    end.await(10, TimeUnit.MILLISECONDS);
                    return row;
                });
        List<Integer> attempts = ferro.timeout(Duration.ofSeconds(2))
                .attempts(2)
                .runAll(slow, (rank, rows) -> {
                    if (rank.attempt() == 0 && rank.group().rank() == 1) {
                        while (rows.hasNext()) {
                            rows.next();
                        }
                    }
                    rank.group().barrier();
                    return rank.attempt();
                });
        assertEquals(Collections.nCopies(SharedSpark.RANKS, 1), attempts);
    }

    @Test
    void twoGroupsRunAtOnceInOneProcess() {
        both = new CyclicBarrier(4);
        List<CompletableFuture<List<Integer>>> jobs = Stream.of(1, 10)
                .map(factor -> CompletableFuture.supplyAsync(
                        () -> ofTwo(factor), task -> new Thread(task, "test-driver").start()))
                .toList();
        assertEquals(List.of(3, 3), jobs.get(0).join());
        assertEquals(List.of(30, 30), jobs.get(1).join());
    }

    private List<Integer> ofTwo(int factor) {
        JavaSparkContext spark = SharedSpark.context();
        return ferro.runAll(SharedSpark.rows(spark, 2), (rank, rows) -> {
            both.await(60, TimeUnit.SECONDS);
            int[] sum = {factor * rows.next()};
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0];
        });
    }

    @Test
    void ranksJoinByTheStoreOfRankZero() {
        List<Integer> sums = ferro.storeOnRankZero().runAll(SharedSpark.rows(), (rank, rows) -> {
            int[] sum = {rows.next()};
            rank.group().allReduce(sum, ReduceOp.SUM);
            rank.progress(1, Map.of("loss", 0.5));
            return sum[0];
        });
        assertEquals(Collections.nCopies(SharedSpark.RANKS, 10), sums);
        assertEquals("", ExecutorLeftovers.threads());
    }

    /** Returns rows one of which comes only at the end. */
    private static JavaRDD<Integer> stuck() {
        end = new CountDownLatch(1);
        return SharedSpark.rows().mapPartitions(rows -> {
            int row = rows.next();
            assertTrue(row != 2 || end.await(60, TimeUnit.SECONDS));
            return List.of(row).iterator();
        });
    }

    @Test
    void aTaskThatNeverReachesTheBarrierEndsTheRendezvousAtTheDeadline() {
        JavaRDD<Integer> stuck = stuck();
        try {
            FerroSparkException failure = assertThrows(
                    FerroSparkException.class,
                    () -> ferro.storeOnRankZero().timeout(Duration.ofSeconds(2)).run(stuck, (rank, rows) -> 1));
            assertTrue(
                    failure.getMessage().contains("not all 4 tasks reached Spark's barrier within 2000 ms"),
                    failure.getMessage());
            assertEquals("", ExecutorLeftovers.threads());
        } finally {
            end.countDown();
        }
    }

    /** Rank 1 does not join, so the other ranks wait for it until Spark cancels them. */
    @ParameterizedTest
    @CsvSource({"false,join", "true,awaited"})
    void cancellingAJobEndsTasksThatJoin(boolean atRankZero, String wait) throws Exception {
        JavaSparkContext spark = SharedSpark.context();
        JavaRDD<Integer> stuck = stuck();
        FerroSpark way = atRankZero ? ferro.storeOnRankZero() : ferro;
        try {
            CompletableFuture<Integer> job = CompletableFuture.supplyAsync(() -> {
                spark.setJobGroup("meeting", "a job to cancel", false);
                return way.run(stuck, (rank, rows) -> 1);
            });
            awaitThreads("ferro.", wait, SharedSpark.RANKS - 1);
            spark.cancelJobGroup("meeting");
            Throwable failure = assertThrows(Exception.class, () -> job.get(60, TimeUnit.SECONDS))
                    .getCause();
            assertTrue(failure.getMessage().contains("was cancelled"), failure.getMessage());
            assertEquals("", ExecutorLeftovers.threads());
        } finally {
            end.countDown();
        }
        // rank 1 joins only after all other ranks have ended
        awaitThreads("org.apache.spark.executor.Executor$TaskRunner", "run", 0);
    }

    /** Blocks until the given number of threads are in the given method of a class whose name has the given prefix. */
    private static void awaitThreads(String type, String method, int count) throws InterruptedException {
        long start = System.nanoTime();
        while (threadsIn(type, method) != count) {
            assertTrue(
                    System.nanoTime() - start < TimeUnit.SECONDS.toNanos(30),
                    threadsIn(type, method) + " threads are in " + method + ", need " + count);
            new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
        }
    }

    private static long threadsIn(String type, String method) {
        return Thread.getAllStackTraces().values().stream()
                .filter(stack -> Stream.of(stack)
                        .anyMatch(frame -> frame.getClassName().startsWith(type)
                                && frame.getMethodName().equals(method)))
                .count();
    }
}

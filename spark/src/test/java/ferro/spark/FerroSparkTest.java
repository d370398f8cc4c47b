package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.ReduceOp;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.rank.SparkRank;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Function2;
import scala.collection.Iterator;

/** Tests of jobs whose executors are threads of one process. Unlike in a cluster, the tasks share static fields. */
class FerroSparkTest {
    private static final Map<String, CountDownLatch> LATCHES = new ConcurrentHashMap<>();
    private static final AtomicInteger RUNS = new AtomicInteger();

    private final FerroSpark ferro = SharedSpark.ferro();

    @BeforeEach
    void forget() {
        LATCHES.clear();
        RUNS.set(0);
    }

    private static CountDownLatch latch(String name) {
        return LATCHES.computeIfAbsent(name, key -> new CountDownLatch(1));
    }

    @Test
    void everyRankHasTheSumOfTheRowsOfAllPartitions() {
        List<Integer> sums = ferro.runAll(SharedSpark.rows(), (rank, rows) -> {
            int[] sum = {rows.next()};
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0];
        });

        assertEquals(List.of(10, 10, 10, 10), sums);
    }

    @Test
    void onlyTheValueOfRankZeroIsReturnedByRun() {
        Object value = ferro.<Integer, Object>run(
                // a thread cannot be serialized: the results of the other ranks are not sent
                SharedSpark.rows(), (rank, rows) -> rank.group().rank() == 0 ? "of rank 0" : new Thread());

        assertEquals("of rank 0", value);
    }

    @Test
    void rowsWithAnotherNumberOfPartitionsAreRepartitioned() {
        List<Integer> sums = ferro.ranks(2).runAll(SharedSpark.rows().union(SharedSpark.rows()), (rank, rows) -> {
            int[] sum = {0};
            rows.forEachRemaining(row -> sum[0] += row);
            rank.group().allReduce(sum, ReduceOp.SUM);
            return sum[0];
        });

        assertEquals(List.of(20, 20), sums);
    }

    @Test
    void aCoalescedRddIsRepartitioned() {
        JavaRDD<Integer> coalesced = SharedSpark.rows().coalesce(2);

        assertEquals(2, ferro.runAll(coalesced, (rank, rows) -> rows.next()).size());
    }

    @Test
    void moreRanksThanSlotsAreRefusedWithBothNumbers() {
        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class, () -> ferro.ranks(5).run(SharedSpark.rows(), (rank, rows) -> 1));

        assertTrue(
                refusal.getMessage().startsWith("5 ranks need 5 slots at once, found 4: 1 executor of 4 slots each"),
                refusal.getMessage());
    }

    @Test
    void anExceptionOfOneRankEndsTheJobAndIsNamed() {
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> ferro.run(SharedSpark.rows(), (rank, rows) -> {
                    if (rank.group().rank() == 2) {
                        throw new IllegalStateException("row 17 is bad");
                    }
                    rank.group().barrier();
                    return 1;
                }));

        assertEquals(2, failure.rank().orElseThrow(), failure.getMessage());
        assertTrue(
                failure.getMessage()
                        .matches(
                                "(?s)job .* of 4 ranks, attempt 1 of 1 failed on rank 2, task [0-9]+ of stage [0-9]+ on"
                                        + " the driver: IllegalStateException: row 17 is bad"),
                failure.getMessage());
        assertTrue(failure.getCause().getMessage().contains("row 17 is bad"), () -> "" + failure.getCause());
    }

    @Test
    void aRankThatHangsIsNamedAtTheDeadline() {
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> ferro.timeout(Duration.ofSeconds(3)).run(SharedSpark.rows(), (rank, rows) -> {
                    if (rank.group().rank() == 1) {
                        // the call ends when another rank has failed
                        assertTrue(latch("failed").await(60, TimeUnit.SECONDS));
                        return 1;
                    }
                    try {
                        rank.group().barrier();
                    } catch (FerroException timedOut) {
                        latch("failed").countDown();
                        throw timedOut;
                    }
                    return 1;
                }));

        assertTrue(failure.getMessage().contains("failed on rank 1, task"), failure.getMessage());
        assertTrue(failure.getMessage().contains("TIMED_OUT"), failure.getMessage());
    }

    /** The task keeps its slot, and Spark would wait for slots forever. */
    @Test
    void aRankThatDoesNotEndIsNamedAndNotRetried() {
        try {
            FerroSparkException failure = assertThrows(
                    FerroSparkException.class,
                    () -> ferro.timeout(Duration.ofSeconds(2)).attempts(2).run(SharedSpark.rows(), (rank, rows) -> {
                        if (rank.group().rank() == 1) {
                            return latch("released").await(60, TimeUnit.SECONDS);
                        }
                        rank.group().barrier();
                        return true;
                    }));

            assertTrue(
                    failure.getMessage()
                            .matches(
                                    "(?s).* attempt 1 of 2 failed on rank 1, .*; no further attempt: rank 1, task [0-9]+ on"
                                            + " the driver does not end; set spark.task.reaper.enabled=true"),
                    failure.getMessage());
        } finally {
            latch("released").countDown();
        }
    }

    @Test
    void ranksThatFailBecauseOfAnotherAreNotBlamed() {
        FerroSparkException failure = assertThrows(
                FerroSparkException.class,
                () -> ferro.run(SharedSpark.rows(), (rank, rows) -> {
                    if (rank.group().rank() == 2) {
                        throw new IllegalStateException("row 17 is bad");
                    }
                    try {
                        rank.group().barrier();
                    } catch (FerroException hidden) {
                        throw new IllegalStateException("training failed");
                    }
                    return 1;
                }));

        assertEquals(2, failure.rank().orElseThrow(), failure.getMessage());
        assertTrue(failure.getMessage().endsWith("row 17 is bad"), failure.getMessage());
    }

    @Test
    void aScalaFunctionThatCannotBeSerializedIsRefused() {
        Function2<SparkRank, Iterator<Integer>, String> captures = $anonfun$capturing(new Object());

        Exception refusal =
                assertThrows(Exception.class, () -> ferro.run(SharedSpark.rows().rdd(), captures));

        assertEquals("Task not serializable", refusal.getMessage());
    }

    /** The method name by which Spark recognises Scala functions. The compiler uses it in the name of the lambda. */
    private static Function2<SparkRank, Iterator<Integer>, String> $anonfun$capturing(Object outer) {
        return (Function2<SparkRank, Iterator<Integer>, String> & Serializable) (rank, rows) -> outer.toString();
    }

    @Test
    void anExceptionOfRetryOnIsRetried(@TempDir Path folder) {
        List<String> states = ferro.attempts(3)
                .retryOn(IllegalStateException.class)
                .checkpoint(folder.toUri().toString())
                .runAll(SharedSpark.rows(), (rank, rows) -> {
                    String before = rank.restore()
                            .map(state -> state.step() + ":" + new String(state.state()))
                            .orElse("none");
                    rank.checkpoint(rank.attempt() + 1, ("rank " + rank.group().rank()).getBytes());
                    if (rank.attempt() < 2 && rank.group().rank() == 1) {
                        throw new IllegalStateException("attempt " + rank.attempt());
                    }
                    rank.group().barrier();
                    return before;
                });

        assertEquals(List.of("2:rank 0", "2:rank 1", "2:rank 2", "2:rank 3"), states);
    }

    @Test
    void anyOtherExceptionIsNotRetried() {
        assertThrows(
                FerroSparkException.class,
                () -> ferro.attempts(3).run(SharedSpark.rows(), (rank, rows) -> {
                    RUNS.accumulateAndGet(rank.attempt() + 1, Math::max);
                    throw new IllegalArgumentException(
                            "a mistake of rank " + rank.group().rank());
                }));

        assertEquals(1, RUNS.get());
    }

    @Test
    void theDriverReceivesTheProgressOfARank() throws Exception {
        CompletableFuture<String> reported = new CompletableFuture<>();
        ferro.onProgress(report -> reported.complete(report.rank() + " " + report.step() + " " + report.values()))
                .run(SharedSpark.rows(), (rank, rows) -> {
                    if (rank.group().rank() == 0) {
                        rank.progress(7, Map.of("loss", 0.25));
                    }
                    rank.group().barrier();
                    return 1;
                });

        assertEquals("0 7 loss=0.250000", reported.get(30, TimeUnit.SECONDS));
    }

    @Test
    void tenJobsLeaveNoThreadOfFerro() {
        for (int job = 0; job < 10; job++) {
            ferro.run(SharedSpark.rows(), (rank, rows) -> {
                rank.group().barrier();
                return 1;
            });
        }

        assertEquals("", ExecutorLeftovers.threads());
    }
}

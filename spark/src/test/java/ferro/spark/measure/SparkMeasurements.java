package ferro.spark.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.spark.FerroSpark;
import ferro.spark.SharedSpark;
import ferro.spark.TaskKiller;
import ferro.spark.TestCluster;
import ferro.spark.example.LogisticRegressionByGroup;
import ferro.spark.example.MllibRegression;
import ferro.spark.example.NoisyRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The measurements for docs/spark.md, which has the command. Two executor processes run two ranks each. */
@Tag("cluster")
class SparkMeasurements {
    private static final int TRIES = 3;
    private static final int JOBS = 9;
    private static final int FEATURES = 100;
    private static JavaSparkContext spark;

    @TempDir
    private Path folder;

    @BeforeAll
    static void startCluster() throws IOException {
        spark = TestCluster.start(2, new SparkConf().set("spark.ui.showConsoleProgress", "false"));
    }

    @AfterAll
    static void endCluster() {
        spark.close();
    }

    private static JavaRDD<Integer> rows() {
        return SharedSpark.rows(spark, SharedSpark.RANKS);
    }

    @Test
    void steps() {
        StepContest contest = new StepContest(spark, rows());
        print(contest.line(1_000, 100));
        print(contest.line(1_000_000, 20));
        print(contest.line(10_000_000, 5));
    }

    /** Trains the example to the same optimum as MLlib. The first round is a warm-up and is not counted. */
    @Test
    void regressions() {
        JavaRDD<double[]> rows =
                NoisyRows.of(spark, 40_000, FEATURES, SharedSpark.RANKS).cache();
        double apart = 0;
        List<Double> mllib = new ArrayList<>();
        List<Double> group = new ArrayList<>();
        for (int round = 0; round <= TRIES; round++) {
            long start = System.nanoTime();
            double[] expected = MllibRegression.train(rows, FEATURES, 0.01, 1e-10);
            long between = System.nanoTime();
            double[] found = new LogisticRegressionByGroup(FEATURES, 0.01, 1e-10).train(FerroSpark.on(spark), rows);
            long end = System.nanoTime();
            assertArrayEquals(expected, found, 1e-4);
            apart = Math.max(apart, maxApart(expected, found));
            if (round > 0) {
                mllib.add((between - start) / 1e6);
                group.add((end - between) / 1e6);
            }
        }
        print(String.format(
                "logistic regression by L-BFGS: MLlib %.0f ms, ferro %.0f ms, ratio %.1f; weights at most %.1e apart",
                StepContest.median(mllib),
                StepContest.median(group),
                StepContest.median(mllib) / StepContest.median(group),
                apart));
    }

    private static double maxApart(double[] one, double[] other) {
        double max = 0;
        for (int i = 0; i < one.length; i++) {
            max = Math.max(max, Math.abs(one[i] - other[i]));
        }
        return max;
    }

    /** Measures the time from the driver's call to the first line of the last task's function. */
    @Test
    void joins() {
        List<Double> plain = new ArrayList<>();
        List<Double> group = new ArrayList<>();
        for (int job = 0; job < JOBS; job++) {
            long start = System.currentTimeMillis();
            plain.add(latest(rows().map(row -> System.currentTimeMillis()).collect()) - start);
            start = System.currentTimeMillis();
            group.add(latest(FerroSpark.on(spark).runAll(rows(), (rank, own) -> System.currentTimeMillis())) - start);
        }
        print(String.format(
                "job to first line of the last task: Spark %.0f ms, ferro %.0f ms; the first job %.0f and %.0f ms",
                StepContest.median(plain), StepContest.median(group), plain.get(0), group.get(0)));
    }

    private static double latest(List<Long> times) {
        return Collections.max(times);
    }

    @Test
    void secondAttempts() throws IOException {
        List<Double> thrown = new ArrayList<>();
        List<Double> killed = new ArrayList<>();
        for (int round = 0; round < TRIES; round++) {
            thrown.add(secondAttempt(false));
            killed.add(secondAttempt(true));
        }
        print(String.format(
                "fault to first line of the second attempt: exception %.0f ms, executor halted %.0f ms",
                StepContest.median(thrown), StepContest.median(killed)));
    }

    private double secondAttempt(boolean kill) throws IOException {
        Path faultFile = Files.createTempFile(folder, "fault", ".millis");
        String file = faultFile.toString();
        List<Long> started = FerroSpark.on(spark)
                .attempts(2)
                .retryOn(IllegalStateException.class)
                .runAll(rows(), (rank, own) -> {
                    long start = System.currentTimeMillis();
                    rank.group().barrier();
                    if (rank.attempt() == 0 && rank.group().rank() == 2) {
                        end(Path.of(file), kill);
                    }
                    rank.group().barrier();
                    return start;
                });
        return latest(started) - Long.parseLong(Files.readString(faultFile));
    }

    /** Writes the current time, and ends the rank or its process. */
    private static void end(Path file, boolean kill) throws IOException {
        Files.writeString(file, "" + System.currentTimeMillis());
        if (kill) {
            Runtime.getRuntime().halt(137);
        }
        throw new IllegalStateException("row 17 is bad");
    }

    /** Measures the time from the kill of a task to the first sum of the last rank in the next attempt. */
    @Test
    void killedTasks() {
        List<Double> sums = new ArrayList<>();
        for (int round = 0; round <= JOBS; round++) {
            double millis = killedTask();
            if (round > 0) {
                sums.add(millis);
            }
        }
        print(String.format(
                "kill of a task to the first sum of the next attempt: %.0f ms, most %.0f ms",
                StepContest.median(sums), Collections.max(sums)));
    }

    private static double killedTask() {
        try (TaskKiller killer = TaskKiller.of(spark, 2)) {
            List<Long> first = FerroSpark.on(spark)
                    .attempts(2)
                    .onProgress(report -> killer.kill())
                    .runAll(rows(), (rank, own) -> {
                        for (int step = 1; rank.attempt() == 0; step++) {
                            rank.progress(step, Map.of());
                            rank.group().allReduce(new int[] {step}, ReduceOp.SUM);
                        }
                        rank.group().allReduce(new int[] {1}, ReduceOp.SUM);
                        return System.currentTimeMillis();
                    });
            return latest(first) - killer.killedMillis();
        }
    }

    @Test
    void cancels() throws Exception {
        List<Double> ends = new ArrayList<>();
        for (int round = 0; round < TRIES; round++) {
            ends.add(cancelled("cancel" + round));
        }
        print(String.format(
                "cancel to the end of the last task: %.0f ms, most %.0f ms",
                StepContest.median(ends), Collections.max(ends)));
    }

    private static double cancelled(String name) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        TaskEnds tasks = TaskEnds.of(spark);
        CompletableFuture<Integer> job = CompletableFuture.supplyAsync(() -> {
            spark.setJobGroup(name, "a job to cancel", false);
            return FerroSpark.on(spark).onProgress(report -> begun.countDown()).run(rows(), (rank, own) -> {
                while (true) {
                    rank.group().barrier();
                    rank.progress(1, Map.of("step", 1.0));
                }
            });
        });
        assertTrue(begun.await(60, TimeUnit.SECONDS), "no rank has begun");
        long start = System.currentTimeMillis();
        spark.cancelJobGroup(name);
        double millis = tasks.lastOf(SharedSpark.RANKS) - start;
        assertThrows(Exception.class, () -> job.get(60, TimeUnit.SECONDS));
        assertEquals(SharedSpark.RANKS, rows().count());
        return millis;
    }

    private static void print(String line) {
        System.out.println("measured: " + line);
    }
}

package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.spark.failure.FerroSparkException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two processes as executors, with two ranks each; they prove a secret to each other. */
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
        String classPath = System.getProperty("java.class.path");
        linkJars(Path.of(System.getenv("SPARK_HOME"), "jars"), classPath);
        spark = new JavaSparkContext(SharedSpark.conf("local-cluster[2,2,1024]")
                .set("spark.executor.extraClassPath", classPath)
                .set("spark.authenticate", "true")
                .set("spark.authenticate.secret", "a secret of tests, and of nothing else")
                .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
                .set("spark.kryo.registrationRequired", "true"));
    }

    /** A worker of Spark starts executors by the jars of an installation. */
    private static void linkJars(Path jars, String classPath) throws IOException {
        Files.createDirectories(jars);
        for (String one : classPath.split(File.pathSeparator)) {
            Path link = jars.resolve(Path.of(one).getFileName());
            if (one.endsWith(".jar") && !Files.exists(link)) {
                Files.createSymbolicLink(link, Path.of(one).toAbsolutePath());
            }
        }
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

    /** In the first attempt rank 2 ends its process as a kill does; returns the attempt in which each rank ended. */
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

    @Test
    void fiftyJobsLeaveNoThreadAndNoMappingInTheExecutors() {
        for (int job = 0; job < 50; job++) {
            ferro().run(rows(), (rank, rows) -> {
                rank.group().barrier();
                return 1;
            });
        }

        List<String> left = rows().map(row -> ExecutorLeftovers.ofThisProcess()).collect();
        assertEquals(Collections.nCopies(SharedSpark.RANKS, ""), left);
    }
}

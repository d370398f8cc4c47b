package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.failure.FerroSparkException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of GPU addresses that Spark assigns to tasks. They need no GPU. */
@Tag("cluster")
class SparkGpuTest {
    @TempDir
    private static Path folder;

    private static JavaSparkContext cluster(String ofTask) throws IOException {
        Path script = folder.resolve("discover");
        Files.writeString(script, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"3\", \"5\"]}'\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        SparkConf conf = new SparkConf(false);
        for (String of : new String[] {"worker", "executor"}) {
            conf.set("spark." + of + ".resource.gpu.amount", "2")
                    .set("spark." + of + ".resource.gpu.discoveryScript", script.toString());
        }
        return TestCluster.start(1, conf.set("spark.task.resource.gpu.amount", ofTask));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ranksThatShareADeviceAreRefused(boolean atRankZero) throws IOException {
        try (JavaSparkContext spark = cluster("0.5")) {
            FerroSpark ferro = FerroSpark.on(spark);
            FerroSparkException failure = assertThrows(
                    FerroSparkException.class,
                    () -> (atRankZero ? ferro.storeOnRankZero() : ferro)
                            .run(SharedSpark.rows(spark, 2), (rank, rows) -> 1));
            assertTrue(
                    failure.getMessage()
                            .matches("(?s).*ranks [01] and [01] both have GPU 3 of .*"
                                    + "spark.task.resource.gpu.amount=1.*"),
                    failure.getMessage());
        }
    }

    @Test
    void ranksWithADeviceEachRun() throws IOException {
        try (JavaSparkContext spark = cluster("1")) {
            assertEquals(
                    2,
                    FerroSpark.on(spark)
                            .runAll(SharedSpark.rows(spark, 2), (rank, rows) -> {
                                rank.group().barrier();
                                return rank.group().rank();
                            })
                            .size());
        }
    }
}

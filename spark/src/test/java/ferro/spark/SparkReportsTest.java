package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.launcher.analyze.Analysis;
import ferro.spark.failure.FerroSparkException;
import ferro.spark.internals.ScalaConverter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ranks report to the driver, on threads of one process as executors. */
class SparkReportsTest {
    private static volatile CountDownLatch late;

    private final FerroSpark ferro = SharedSpark.ferro();

    @TempDir
    private Path folder;

    /** Rank 1 makes no call until the other ranks have timed out. */
    private FerroSparkException stuck() {
        late = new CountDownLatch(1);
        return assertThrows(
                FerroSparkException.class,
                () -> ferro.timeout(Duration.ofSeconds(2)).run(SharedSpark.rows(), (rank, rows) -> {
                    rank.group().barrier();
                    if (rank.group().rank() == 1) {
                        return late.await(60, TimeUnit.SECONDS);
                    }
                    try {
                        rank.group().barrier();
                    } catch (FerroException timedOut) {
                        late.countDown();
                        throw timedOut;
                    }
                    return true;
                }));
    }

    @Test
    void recordingsOfAHangingJobNameTheLateRank() throws Exception {
        int written = stuck().writeRecordings(folder);

        assertTrue(written >= 2, written + " recordings");
        for (Path one : files()) {
            assertTrue(Files.size(one) <= 64 << 10, one + " has " + Files.size(one) + " bytes");
        }
        assertEquals(written, files().size());
        assertEquals(Set.of(1), Analysis.of(List.of(folder), Optional.empty()).guilty());
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }

    @Test
    void theStepsOfRankZeroAreAnAccumulator() throws Exception {
        CompletableFuture<Object> steps = new CompletableFuture<>();
        SparkListener listener = new SparkListener() {
            @Override
            public void onStageCompleted(SparkListenerStageCompleted end) {
                Iterator<AccumulableInfo> all =
                        ScalaConverter.rows(end.stageInfo().accumulables().valuesIterator());
                all.forEachRemaining(one -> {
                    if (one.name().getOrElse(() -> "").startsWith("ferro: steps of rank 0 of ")) {
                        steps.complete(one.value().get());
                    }
                });
            }
        };
        SparkContext spark = SharedSpark.context().sc();
        spark.addSparkListener(listener);
        try {
            ferro.run(SharedSpark.rows(), (rank, rows) -> {
                rank.progress(3, Map.of("loss", 0.5));
                rank.progress(7 + rank.group().rank(), Map.of("loss", 0.25));
                return true;
            });

            assertEquals(7L, steps.get(30, TimeUnit.SECONDS));
        } finally {
            spark.removeSparkListener(listener);
        }
    }
}

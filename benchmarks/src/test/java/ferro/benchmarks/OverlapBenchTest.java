package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.simulated.SimulatedBackend;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("long")
class OverlapBenchTest {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @ParameterizedTest
    @ValueSource(strings = {"idle", "busy"})
    void threeRanksAverageRightAndPrintARowPerSetting(String computing) throws Exception {
        OverlapRequest request = OverlapRequest.parse(List.of(
                ("--layers 3 --layer-size 1200 --buckets 1KiB,64KiB --ratios 0.5,1 --json --computing " + computing)
                        .split(" ")));

        assertEquals(0, run(request));

        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(4, lines.size(), lines::toString);
        assertTrue(lines.get(1).contains("\"ranks\":3,"), lines.get(1));
        assertTrue(lines.get(1).contains("\"bucket_bytes\":65536,"), lines.get(1));
        for (String line : lines) {
            assertTrue(line.matches(".*\"step_ms\":[0-9.]*[1-9][0-9.]*,.*"), line);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = "1KiB,64KiB")
    void theTableNamesTheFastestBucketSizeAsTyped(String buckets) throws Exception {
        run(OverlapRequest.parse(
                List.of("--layers", "2", "--layer-size", "400", "--ratios", "1", "--buckets", buckets)));

        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(
                text.matches(
                        "(?s).*# fastest with buckets of (1024|65536) bytes: BucketSettings.DEFAULT.withBytes\\((1024|"
                                + "65536), \\1\\).*"),
                text);
    }

    private long run(OverlapRequest request) {
        List<Long> wrong = SimulatedBackend.runAll(3, group -> {
            try (PrintStream out = new PrintStream(
                    group.rank() == 0 ? printed : new ByteArrayOutputStream(), true, StandardCharsets.UTF_8)) {
                return new OverlapBench(group, request, out).run();
            }
        });
        return wrong.get(2);
    }
}

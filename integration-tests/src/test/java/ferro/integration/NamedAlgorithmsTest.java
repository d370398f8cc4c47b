package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.harness.Medium;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Algorithms that the user names, alone or in a table, on ranks that share memory and on ranks that do not. */
class NamedAlgorithmsTest {
    private static final Pattern BY = Pattern.compile(" by (\\w+)");

    /** A slot has room for some 128 KiB between threads: what stages all at once is for no more than that. */
    @ParameterizedTest(name = "{1} over {0}, {2} elements by {3}")
    @CsvSource({
        "shm, flat, 25000, flat", "shm, flat, 300000, halfInPlace", "shm, flat, 5000000, halfInPlace",
        "shm, ring, 1000, ring", "shm, halfInPlace, 16, halfInPlace", "tcp, flat, 1000, recursiveDoubling",
        "tcp, ring, 16, ring"
    })
    void areTakenWhereTheyCanRun(String medium, String named, int elements, String taken, @TempDir Path folder)
            throws IOException {
        check(Map.of("ferro.algorithm", "allReduce=" + named), medium, elements, taken);
        if (!(medium.equals("shm") && named.equals("ring"))) {
            Path table = Files.writeString(folder.resolve("table"), "allReduce 2 max " + named);
            check(Map.of("ferro.algorithm.table", table.toString()), medium, elements, taken);
        }
    }

    private static void check(Map<String, String> settings, String medium, int elements, String taken) {
        try (Ranks ranks = Ranks.over(Medium.of(medium), 2, settings)) {
            ranks.each(group -> {
                float[] data = new float[elements];
                for (int i = 0; i < elements; i++) {
                    data[i] = i % 7 + group.rank();
                }
                group.allReduce(data, ReduceOp.SUM);
                for (int i = 0; i < elements; i++) {
                    assertEquals(2 * (i % 7) + 1, data[i]);
                }
            });
            Ended alone = OnThread.result(ranks.start(
                    0, group -> group.within(Duration.ofMillis(100)).allReduce(new float[elements], ReduceOp.SUM)));
            Matcher by = BY.matcher(alone.failure().getMessage());
            assertTrue(by.find(), alone.failure().getMessage());
            assertEquals(taken, by.group(1), alone.failure().getMessage());
        }
    }
}

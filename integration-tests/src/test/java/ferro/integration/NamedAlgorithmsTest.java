package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.harness.Medium;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import ferro.harness.Ranks.Task;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Algorithms that the user names, on ranks that share memory and on ranks that do not. */
class NamedAlgorithmsTest {
    private static final Pattern BY = Pattern.compile(" by (\\w+)");

    /** A slot has room for some 128 KiB between threads: what stages all at once is for no more than that. */
    @ParameterizedTest(name = "{1} over {0}, {2} elements by {3}")
    @CsvSource({
        "shm, flat, 25000, flat", "shm, flat, 300000, halfInPlace", "shm, flat, 5000000, halfInPlace",
        "shm, ring, 1000, ring", "shm, halfInPlace, 16, halfInPlace", "tcp, flat, 1000, recursiveDoubling",
        "tcp, ring, 16, ring"
    })
    void namedAlgorithmsAreUsedIfTheyCanRun(String medium, String named, int elements, String taken) {
        try (Ranks ranks = Ranks.over(Medium.of(medium), 2, Map.of("ferro.algorithm", "allReduce=" + named))) {
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

    /** Over every medium and between two hosts; the numbers are such that the order of adding shows. */
    @ParameterizedTest
    @CsvSource({"ring, 1", "ring, 3", "ring, 100000", "recursiveDoubling, 100000", "halvingDoubling, 3"})
    void aNamedAlgorithmGivesTheSameBitsOverEveryMedium(String named, int elements) {
        Map<String, String> settings = Map.of("ferro.algorithm", "allReduce=" + named);
        Set<String> sums = new HashSet<>();
        Task<String> sum = group -> {
            float[] data = new float[elements];
            Arrays.fill(data, new float[] {1e8f, 3, -1e8f, 5}[group.rank()]);
            group.allReduce(data, ReduceOp.SUM);
            return Arrays.toString(data);
        };
        for (Medium medium : Medium.values()) {
            sums.addAll(Ranks.run(medium, 4, settings, sum));
        }
        for (String[] hosts : new String[][] {{"a", "a", "b", "b"}, {"a", "b", "b", "a"}}) {
            try (Ranks ranks = Ranks.onHosts(settings, hosts)) {
                sums.addAll(ranks.all(sum));
            }
        }
        assertEquals(1, sums.size());
    }
}

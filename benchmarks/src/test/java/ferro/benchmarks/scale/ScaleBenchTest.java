package ferro.benchmarks.scale;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleBenchTest {
    @ParameterizedTest(name = "{0}")
    @Tag("long")
    @CsvSource({
        "threads, 9, all but construction",
        "simulation, 20, close after failure",
        "failure, 20, virtual time until all know",
        "leaving, 20, 'messages of leaving, most of a rank'",
        "straggler, 4, queries",
        "pause, 4, 'heartbeats in 3.0 s with a stop of 0.4 s, per rank'",
        "exit, 9, exit with open groups",
        "plans, 64, 'barrier by dissemination, memory'"
    })
    @Timeout(120)
    void everyRowEndsWithItsLastFigure(String label, int ranks, String figure) throws Exception {
        assertEnds(label, ranks, figure);
    }

    /** As many ranks as the row has by default, within its limits of time and memory. */
    @ParameterizedTest(name = "{0}")
    @Tag("long")
    @CsvSource({"threads, 1000, all but construction", "simulation, 10000, close after failure"})
    @Timeout(400)
    void thousandsOfRanksEndWithinTheLimits(String label, int ranks, String figure) throws Exception {
        assertEnds(label, ranks, figure);
    }

    private static void assertEnds(String label, int ranks, String figure) throws Exception {
        ScaleRow row = ScaleRow.of(label);
        ScaleBench bench = new ScaleBench();
        bench.measure(row, ranks);
        String table = bench.table();
        assertTrue(table.contains("| " + label + " | " + ranks + " | " + figure + " | "), table);
        assertFalse(table.contains("failed with") || table.contains("stopped after"), table);
    }
}

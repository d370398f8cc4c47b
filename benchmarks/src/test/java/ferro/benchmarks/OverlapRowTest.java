package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class OverlapRowTest {
    @Test
    void longComputingShowsOnlyTheLastBucket() {
        OverlapRow row = new OverlapRow(4096, 100, 50, 10, 7, 110, 155, 3);

        assertEquals(107, row.bound());
        assertEquals(0.8, row.hidden(), 1e-12);
    }

    @Test
    void longCommunicationShowsTheFirstBucket() {
        OverlapRow row = new OverlapRow(4096, 100, 200, 10, 7, 220, 305, 3);

        assertEquals(210, row.bound());
        assertEquals(0.4, row.hidden(), 1e-12);
    }

    @Test
    void probesAgreeWithinAQuarter() {
        assertTrue(setting(4, 5).probesAgree());
        assertFalse(setting(4, 5.1).probesAgree());
        assertFalse(setting(5.1, 4).probesAgree());
    }

    @Test
    void jsonHasNullWithoutAProbe() {
        OverlapRow row = new OverlapRow(4096, 100, 200, 10, 7, 220, 305, 3);

        String json = row.json(setting(Double.NaN, Double.NaN));

        assertTrue(json.contains("\"bound_ms\":210.000,\"step_ms\":220.000,"), json);
        assertTrue(json.endsWith("\"probe_us\":null,\"probe_after_us\":null,\"best_bucket_bytes\":8192}"), json);
    }

    @Test
    void theFastestRowHasTheShortestStep() {
        OverlapRow small = new OverlapRow(1024, 100, 200, 10, 7, 220, 305, 3);
        OverlapRow middle = new OverlapRow(4096, 100, 210, 10, 7, 215, 305, 3);
        OverlapRow large = new OverlapRow(8192, 100, 190, 10, 7, 230, 305, 3);

        assertEquals(4096, OverlapRow.fastest(List.of(small, middle, large)).bucketBytes());
    }

    private static OverlapRow.RowConditions setting(double before, double after) {
        return new OverlapRow.RowConditions(2, "TCP", "idle", before, after, 8192);
    }

    @Test
    void everyColumnOfTimesIsExplained() {
        String legend = String.join("\n", OverlapRow.legend());

        for (String column : List.of("C", "N", "c1", "n_last", "bound", "step", "by", "flat", "hidden", "cpu")) {
            assertTrue(legend.matches("(?s).*\\b" + column + "\\b.*"), column);
        }
    }
}

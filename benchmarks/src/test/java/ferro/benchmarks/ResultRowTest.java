package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ResultRowTest {
    private static final Stopwatch.CallTimes TIMES = new Stopwatch.CallTimes(200, 250, 300.5);

    @Test
    void jsonHasEveryFigureByName() {
        ResultRow row = new ResultRow(setting("tcp", 4, "allreduce"), 262144, TIMES, 3, 3.25);

        assertEquals(
                "{\"collective\":\"allreduce\",\"backend\":\"tcp\",\"ranks\":4,\"type\":\"f32\",\"op\":\"sum\","
                        + "\"bytes\":1048576,\"us_min\":200.000,\"us_median\":250.000,\"us_p99\":300.500,"
                        + "\"algbw\":4.1943,\"busbw\":6.2915,\"memory\":\"host\",\"medium\":\"TCP\",\"queued\":1,\"wrong\":3,"
                        + "\"probe_us\":3.250}",
                row.json());
    }

    @Test
    void unknownValuesAreMarkedAsSuch() {
        ResultRow row = new ResultRow(setting("tcp", 1, "broadcast"), 4, TIMES, 0, Double.NaN);

        assertTrue(row.json().contains("\"op\":\"none\""), row.json());
        assertTrue(row.json().contains("\"probe_us\":null"), row.json());
    }

    @Test
    void theTableHasTheColumnsOfNcclTests() {
        ResultRow.SweepSetting setting = setting("tcp", 2, "alltoall", "--type", "f64");
        ResultRow row = new ResultRow(setting, 125_000, TIMES, 0, 3);

        assertEquals(
                List.of("1000000", "125000", "f64", "none", "250.00", "4.0000", "2.0000", "0"),
                List.of(row.table().trim().split(" +")));
        String names = ResultRow.head(setting).split("\\R")[1];
        assertTrue(
                ResultRow.head(setting).startsWith("# alltoall, 2 ranks, tcp, host tensors, data over TCP, "),
                ResultRow.head(setting));
        assertEquals(
                List.of("#", "size", "count", "type", "redop", "time", "algbw", "busbw", "wrong"),
                List.of(names.split(" +")));
    }

    @Test
    void everyColumnOfNumbersIsExplained() {
        ResultRow.SweepSetting setting = setting("tcp", 4, "allreduce");
        String legend = String.join("\n", ResultRow.legend(setting));

        for (String column :
                ResultRow.head(setting).split("\\R")[1].replace("#", "").trim().split(" +")) {
            assertTrue(column.equals("type") || legend.contains(column), column + " in " + legend);
        }
        assertTrue(legend.contains("# busbw: algbw times 1.50, "), legend);
        assertTrue(ResultRow.legend(setting("tcp", 4, "barrier")).contains("# algbw, busbw: 0, because no data moves"));
    }

    private static ResultRow.SweepSetting setting(String backend, int ranks, String... words) {
        return new ResultRow.SweepSetting(Sweep.parse(List.of(words)), backend, ranks, "host", "TCP");
    }
}

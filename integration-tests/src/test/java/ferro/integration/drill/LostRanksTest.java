package ferro.integration.drill;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Links;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two ranks of four are killed: {@code lost()} of each survivor has both of them, soon, and has no rank that lives. */
@Tag("long")
@Timeout(120)
class LostRanksTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final double NANOS_PER_MILLI = 1e6;
    private static final Cell TWO = Cell.of(DrillFault.TWO);

    @RegisterExtension
    static final Jvms JVMS = new Jvms();

    static Stream<Cell> killed() {
        Stream<Cell> once = Stream.of(
                TWO.of(0, 3).over(Links.TCP),
                TWO.of(1, 2).over(Links.TLS),
                TWO.of(2, 3).over(Links.SHM));
        return once.flatMap(cell ->
                Stream.iterate(1, round -> round + 1).limit(Drill.roundsUpTo(8)).map(cell::inRound));
    }

    @ParameterizedTest
    @MethodSource("killed")
    @DisplayName("all survivors of a call have exactly the two ranks that are killed in lost()")
    void survivorsInACallListTheKilledRanksAsLost(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of())) {
            job.sum(LONG, false);
            job.watchLost();

            long at = job.kill(cell.victims().get(0), cell.victims().get(1));

            checkLost(cell, job, at);
            for (RankJvm survivor : job.but(cell.victims()).values()) {
                Line failed = survivor.awaitTag("failed");
                List<String> lost = List.of(failed.value("lost").split(","));
                List<String> blamed =
                        failed.culprits().stream().map(String::valueOf).toList();
                assertTrue(
                        lost.containsAll(blamed), () -> "lost() when the call failed: " + lost + ", blamed " + blamed);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("killed")
    @DisplayName("all survivors that are in no call have exactly the two ranks that are killed in lost()")
    void survivorsOutsideACallListTheKilledRanksAsLost(Cell cell) throws Exception {
        try (DrillJob job = DrillJob.joined(JVMS, cell, Map.of())) {
            job.sum(LONG, false);
            job.pause();
            job.watchLost();

            long at = job.kill(cell.victims().get(0), cell.victims().get(1));

            checkLost(cell, job, at);
        }
    }

    private static void checkLost(Cell cell, DrillJob job, long at) throws IOException, InterruptedException {
        Map<Integer, RankJvm> survivors = job.but(cell.victims());
        Map<Integer, Double> millis = new TreeMap<>();
        for (Map.Entry<Integer, RankJvm> survivor : survivors.entrySet()) {
            Line lost = survivor.getValue().awaitLost(cell.victims());
            millis.put(survivor.getKey(), (lost.number("at") - at) / NANOS_PER_MILLI);
        }
        System.out.println("lost() of two killed ranks after " + millis + " ms: " + cell);
        double allowed = Drill.allowedMillis(cell.promisedMillis());
        assertTrue(millis.values().stream().allMatch(each -> each <= allowed), () -> millis + ", allowed " + allowed);
        job.close(survivors.values());
        survivors.forEach((rank, jvm) -> {
            List<List<Integer>> lost = jvm.lost();
            assertTrue(lost.stream().allMatch(cell.victims()::containsAll), () -> "rank " + rank + ": " + lost);
            assertEquals(cell.victims(), lost.get(lost.size() - 1), () -> "rank " + rank + ": " + lost);
        });
    }
}

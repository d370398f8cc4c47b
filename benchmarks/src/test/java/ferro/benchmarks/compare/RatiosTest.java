package ferro.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.benchmarks.compare.MachineProbe.MachineState;
import ferro.benchmarks.compare.Measurement.CoreDistance;
import ferro.benchmarks.compare.Measurement.MeasuredTimes;
import ferro.benchmarks.compare.Measurement.SizedCall;
import ferro.benchmarks.compare.Ratios.Ratio;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RatiosTest {
    private static final SizedCall ITEM = new SizedCall(2, "allreduce", 1024);
    private static final MachineState NEAR = new MachineState(0.04, 3.6);
    private static final MachineState FAR = new MachineState(0.22, 3.7);
    private static final MachineState SLOW_LOOPBACK = new MachineState(0.04, 5.2);

    private final List<Measurement> all = new ArrayList<>();

    @TempDir
    private Path folder;

    @Test
    void ratiosAreTakenPerRoundBeforeTheirMedian() {
        add("ferro-tcp@25", 0, 10, NEAR, NEAR);
        add("gloo-tcp", 0, 100, NEAR, NEAR);
        add("ferro-tcp@25", 1, 30, NEAR, NEAR);
        add("gloo-tcp", 1, 60, NEAR, NEAR);
        add("ferro-tcp@25", 2, 20, NEAR, NEAR);
        add("gloo-tcp", 2, 25, NEAR, NEAR);

        Ratio ratio = ratio("gloo-tcp", CoreDistance.NEAR);

        assertEquals(new MedianSummary(3, 0.1, 0.5, 0.8), ratio.ratio());
        assertEquals(20, ratio.micros().middle());
        assertEquals(60, ratio.theirs().middle());
    }

    @Test
    void roundsInWhichTheMachineChangedDoNotCount() {
        add("ferro-tcp@25", 0, 10, NEAR, FAR);
        add("gloo-tcp", 0, 100, FAR, FAR);
        add("ferro-tcp@25", 1, 30, NEAR, NEAR);
        add("gloo-tcp", 1, 60, SLOW_LOOPBACK, SLOW_LOOPBACK);
        add("ferro-tcp@25", 2, 20, FAR, FAR);
        add("gloo-tcp", 2, 25, FAR, FAR);

        assertTrue(new Ratios(all)
                .ratio(ITEM, "ferro-tcp@25", "gloo-tcp", CoreDistance.NEAR)
                .isEmpty());
        assertEquals(
                new MedianSummary(1, 0.8, 0.8, 0.8),
                ratio("gloo-tcp", CoreDistance.FAR).ratio());
    }

    @Test
    void roundsOfDifferentRunsAreNotPaired() {
        add("ferro-tcp@25", 0, 10, NEAR, NEAR);
        MeasuredTimes times = new MeasuredTimes(100, 100, 100);
        all.add(new Measurement("other run", ITEM, "gloo-tcp", 0, times, 0, NEAR, NEAR));

        assertTrue(new Ratios(all)
                .ratio(ITEM, "ferro-tcp@25", "gloo-tcp", CoreDistance.NEAR)
                .isEmpty());
    }

    @Test
    void theBestPeerIsTheFastestOverTheSameMedium() {
        add("ferro-tcp@25", 0, 10, NEAR, NEAR);
        add("openmpi-shm", 0, 1, NEAR, NEAR);
        add("openmpi-tcp-reno", 0, 12, NEAR, NEAR);
        add("mpich-tcp", 0, 16, NEAR, NEAR);
        add("gloo-tcp", 0, 80, NEAR, NEAR);
        add("ferro-tcp@17", 0, 4, NEAR, NEAR);
        Ratios ratios = new Ratios(all);

        List<String> peers = TransportMedium.peers("ferro-tcp@25", ratios.contestants());
        Ratio best = ratios.best(ITEM, "ferro-tcp@25", peers, CoreDistance.NEAR).orElseThrow();

        assertEquals(List.of("mpich-tcp", "gloo-tcp"), peers);
        assertEquals("mpich-tcp", best.opponent());
        assertEquals(0.625, best.ratio().middle());
    }

    @Test
    void measurementsOfTwoRunsAreReadBack() throws Exception {
        ResultsFile raw = new ResultsFile(folder.resolve("raw.csv"));
        add("ferro-shm@25", 0, 10.5, NEAR, FAR);
        all.add(new Measurement("other run", ITEM, "mpich-shm", 3, new MeasuredTimes(0.0625, 0.5, 2), 7, FAR, FAR));

        for (Measurement one : all) {
            raw.append(one);
        }

        assertEquals(all, raw.read());
    }

    @Test
    void theReportHasTablesRatiosAndCharts() throws Exception {
        for (long bytes : List.of(4L, 65536L)) {
            for (String name : List.of("ferro-shm@25", "openmpi-shm", "ferro-tcp@25", "openmpi-tcp")) {
                SizedCall item = new SizedCall(2, "allreduce", bytes);
                MeasuredTimes times = new MeasuredTimes(1, name.startsWith("ferro") ? 2 : 8, 3);
                all.add(new Measurement("run", item, name, 0, times, 0, NEAR, NEAR));
            }
        }

        for (String name : List.of("ferro-tcp@25", "openmpi-tcp")) {
            MeasuredTimes times = new MeasuredTimes(1, name.startsWith("ferro") ? 9.5 : 10, 11);
            all.add(new Measurement("run", new SizedCall(2, "allreduce", 64), name, 0, times, 0, NEAR, NEAR));
        }

        new ReportWriter(all, folder).write();

        String tables = Files.readString(folder.resolve("ratios.md"));
        assertTrue(
                tables.contains("| 64 KiB | 2.00 | openmpi-shm 8.00 | **0.25** (0.25 to 0.25, 1) | - | - |"), tables);
        String ratios = Files.readString(folder.resolve("ratios.csv"));
        String row = "2,allreduce,65536,ferro-tcp@25,openmpi-tcp,near,1,2.0000,8.0000,0.2500,0.2500,0.2500";
        assertTrue(ratios.contains(row), ratios);
        String targets = Files.readString(folder.resolve("targets.md"));
        String shm = "| shm, 2 ranks, 64 KiB to 4 MiB | openmpi-shm, mpich-shm | 0.35 | 0.25 | - | yes |";
        String tcp =
                "| TCP, 2 ranks, to 1 MiB | openmpi-tcp, mpich-tcp, gloo-tcp | 0.85 | 0.25 to 0.95 (64 B) | - | **no** |";
        assertTrue(targets.contains(shm) && targets.contains(tcp), targets);
        assertTrue(Files.size(folder.resolve("allreduce-2-shared-memory.png")) > 0);
        assertTrue(Files.size(folder.resolve("allreduce-2-tcp.png")) > 0);
        String chart = Files.readString(folder.resolve("allreduce-2-tcp.svg"));
        assertTrue(chart.contains(">Open MPI</text>") && chart.contains(">ferro</text>"), chart);
    }

    @Tag("long")
    @Test
    void theProbeOfTheMachineGivesTimes() throws Exception {
        try (MachineProbe probe = MachineProbe.open(Duration.ofMillis(1))) {
            MachineState state = probe.read();
            assertTrue(state.flagMicros() > 0 && state.loopbackMicros() > 0, state::toString);
        }
    }

    private Ratio ratio(String opponent, CoreDistance nearness) {
        return new Ratios(all).ratio(ITEM, "ferro-tcp@25", opponent, nearness).orElseThrow();
    }

    private void add(String name, int round, double micros, MachineState before, MachineState after) {
        MeasuredTimes times = new MeasuredTimes(micros, micros, micros);
        all.add(new Measurement("run", ITEM, name, round, times, 0, before, after));
    }
}

package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.benchmarks.BackgroundLoadDetector.CpuTimeReading;
import ferro.group.SystemContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class BackgroundLoadDetectorTest {
    private static final CpuTimeReading BEFORE = new CpuTimeReading(5e9, 70e9, 2, 2e9);

    @TempDir
    private Path folder;

    @Test
    void theLoadOfOtherProcessesIsPrinted() {
        // 10 s in which the machine computed for 17 s, 9 s of it in the ranks
        List<String> warnings = new BackgroundLoadDetector(2, 2, 2).warnings(BEFORE, after(87e9, 2, 11e9));

        assertEquals(
                List.of(
                        "# the machine is busy: other processes used 0.8 of its 2 cores meanwhile, so the times may be too"
                                + " long"),
                warnings);
    }

    @Test
    void anIdleMachineHasNoWarning() {
        assertEquals(List.of(), new BackgroundLoadDetector(2, 2, 2).warnings(BEFORE, after(80e9, 2, 11.5e9)));
        assertEquals(List.of(), new BackgroundLoadDetector(2, 2, 2).warnings(BEFORE, after(Double.NaN, 0, 11.5e9)));
    }

    @Test
    void aMachineWithFreeCoresHasNoWarning() {
        // a container with 2 of 16 cores: other containers used 5 cores
        assertEquals(List.of(), new BackgroundLoadDetector(2, 2, 2).warnings(BEFORE, after(140e9, 16, 22e9)));
    }

    @Test
    void runningAndWaitingTimeOfCompilersIsCounted() throws IOException {
        thread("11", "java", "900 80 7");
        thread("12", "C1 CompilerThre", "30 4 7");
        thread("13", "C2 CompilerThre", "500 60 7");

        assertEquals(594, BackgroundLoadDetector.compilerNanos(folder));
    }

    @Test
    void theTimeOfCompilersIsUnknownWithoutCounters() throws IOException {
        assertEquals(Double.NaN, BackgroundLoadDetector.compilerNanos(folder.resolve("absent")));
        assertEquals(Double.NaN, BackgroundLoadDetector.compilerNanos(folder), "no thread");
        thread("13", "C2 CompilerThre", "");
        assertEquals(Double.NaN, BackgroundLoadDetector.compilerNanos(folder), "no times");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theTimeOfCompilersIsReadOnLinux() {
        assumeTrue(Files.exists(Path.of("/proc/self/schedstat")), "this kernel does not count the times of threads");
        assertTrue(BackgroundLoadDetector.compilerNanos(BackgroundLoadDetector.THREADS) > 0);
    }

    private void thread(String id, String name, String times) throws IOException {
        Path thread = Files.createDirectory(folder.resolve(id));
        Files.writeString(thread.resolve("comm"), name + "\n");
        Files.writeString(thread.resolve("schedstat"), times + "\n");
    }

    @Test
    void ranksThatShareCoresCauseAWarning() {
        assertEquals(
                List.of("# 3 ranks share 2 cores of this host: a call also waits until the other ranks get a core"),
                new BackgroundLoadDetector(2, 3, 3).warnings(BEFORE, after(80e9, 2, 12e9)));
    }

    @Test
    void ranksOfOtherHostsAreNotCounted() {
        // 4 ranks on 2 hosts of 2 cores: the ranks of both hosts computed for 36 s
        assertEquals(List.of(), new BackgroundLoadDetector(2, 2, 4).warnings(BEFORE, after(88e9, 2, 38e9)));
        // and if they slept, this host's other processes are still unknown
        assertEquals(List.of(), new BackgroundLoadDetector(2, 2, 4).warnings(BEFORE, after(88e9, 2, 4e9)));
    }

    @Test
    void theMachineUseIsThatOfTheRanksOfOneHost() {
        Map<String, String> settings = Map.of("LOCAL_WORLD_SIZE", "2", "FERRO_LOCAL_CORES", "3");

        try (SystemContext context = SystemContext.of(settings)) {
            assertEquals(new BackgroundLoadDetector(3, 2, 4), BackgroundLoadDetector.of(context, 4));
        }
    }

    private static CpuTimeReading after(double machineNanos, int cores, double ranksNanos) {
        return new CpuTimeReading(15e9, machineNanos, cores, ranksNanos);
    }

    @Test
    void theCountersOfLinuxAreRead() throws Exception {
        Path counters = Files.writeString(
                folder.resolve("stat"), "cpu  300 20 1000 99999 7 0 8 9 0 0\ncpu0 150 10 500 49999 3 0 4 5 0 0\n");

        assertEquals(13.2e9, CpuTimeReading.now(counters).machineNanos(), 1);
        assertEquals(1, CpuTimeReading.now(counters).machineCores());
        assertTrue(Double.isNaN(CpuTimeReading.now(folder.resolve("none")).machineNanos()));
        assertTrue(Double.isNaN(
                CpuTimeReading.now(Files.writeString(counters, "other")).machineNanos()));
    }
}

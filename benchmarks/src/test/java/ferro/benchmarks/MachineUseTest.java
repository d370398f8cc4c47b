package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.benchmarks.MachineUse.Reading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineUseTest {
    private static final Reading BEFORE = new Reading(5e9, 70e9, 2e9);

    @TempDir
    private Path folder;

    @Test
    void theLoadOfOtherProcessesIsPrinted() {
        // 10 s in which the machine computed for 17 s, 9 s of it in the ranks
        List<String> warnings = new MachineUse(2, 2).warnings(BEFORE, new Reading(15e9, 87e9, 11e9));

        assertEquals(
                List.of("# the machine is busy: other processes used 0.8 cores meanwhile, so the times are too long"),
                warnings);
    }

    @Test
    void anIdleMachineHasNoWarning() {
        assertEquals(List.of(), new MachineUse(2, 2).warnings(BEFORE, new Reading(15e9, 80e9, 11.5e9)));
        assertEquals(List.of(), new MachineUse(2, 2).warnings(BEFORE, new Reading(15e9, Double.NaN, 11.5e9)));
    }

    @Test
    void ranksThatShareCoresArePrinted() {
        assertEquals(
                List.of("# 3 ranks share 2 cores: a call also waits until the other ranks get a core"),
                new MachineUse(2, 3).warnings(BEFORE, new Reading(15e9, 80e9, 12e9)));
    }

    @Test
    void theCountersOfLinuxAreRead() throws Exception {
        Path counters = Files.writeString(
                folder.resolve("stat"), "cpu  300 20 1000 99999 7 0 8 9 0 0\ncpu0 150 10 500 49999 3 0 4 5 0 0\n");

        assertEquals(13.2e9, Reading.now(counters).machineNanos(), 1);
        assertTrue(Double.isNaN(Reading.now(folder.resolve("none")).machineNanos()));
        assertTrue(
                Double.isNaN(Reading.now(Files.writeString(counters, "other")).machineNanos()));
    }
}

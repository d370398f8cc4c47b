package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import ferro.backend.simulated.Simulation;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a rank of a simulation of many ranks allocates before it is used. */
class SimulationMemoryTest {
    private static final int FEW = 256;
    private static final int MANY = 1024;
    /** The flight recorder keeps the number of each rank. */
    private static final int BYTES_FOR_ANOTHER_RANK = 6;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void aRankAllocatesAtMostSixBytesForEachOtherRank() {
        allocatedForARank(FEW); // loads classes
        long few = allocatedForARank(FEW);
        long many = allocatedForARank(MANY);
        assertTrue(
                many - few <= BYTES_FOR_ANOTHER_RANK * (MANY - FEW),
                () -> few + " bytes for each of " + FEW + " ranks, " + many + " for each of " + MANY);
    }

    private static long allocatedForARank(int ranks) {
        Map<String, String> settings = Map.of("ferro.recorder.entries", "64", "ferro.heartbeat.interval", "0s");
        long before = THREADS.getCurrentThreadAllocatedBytes();
        Simulation simulation = Simulation.of(ranks, 7, settings);
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertEquals(0, simulation.elapsed().toNanos());
        return bytes / ranks;
    }
}

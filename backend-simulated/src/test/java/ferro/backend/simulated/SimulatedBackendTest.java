package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(120)
class SimulatedBackendTest {
    @Test
    void invalidSettingsAreRefused() {
        Map<String, String> senseless = Map.of("ferro.segment", "soon");

        String group = refusal(() -> SimulatedBackend.createGroup(2, senseless));
        String seeded = refusal(() -> Simulation.of(2, 7, senseless));

        assertTrue(group.startsWith("ferro.segment=soon: need a size such as 64KiB"), group);
        assertEquals(group, seeded);
    }

    private static String refusal(Executable making) {
        return assertThrows(IllegalArgumentException.class, making).getMessage();
    }

    @Test
    void aHundredRanksCommunicate() {
        ranksMeet(100);
    }

    /** Takes 65 to 80 s alone on two cores, and minutes beside other work. */
    @Test
    @Tag("long")
    @Timeout(900)
    void aThousandRanksCommunicate() {
        ranksMeet(1000);
    }

    private static void ranksMeet(int worldSize) {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(worldSize, Map.of("ferro.timeout", "10m"));
        int sumOfAll = worldSize * (worldSize - 1) / 2 + 2 * worldSize;
        LightThreads.run(ranks, Duration.ofMinutes(10), group -> {
            group.barrier();
            int[] data = new int[256];
            Arrays.fill(data, group.rank() + 2);
            group.allReduce(data, ReduceOp.SUM);
            assertTrue(Arrays.stream(data).allMatch(sum -> sum == sumOfAll), "rank " + group.rank());
        });
    }
}

package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

@Timeout(120)
class SimulatedBackendTest {
    @Test
    void ranksOnThreadsAddTheirNumbers() {
        Ranks.run(SimulatedBackend.createGroup(5), group -> {
            float[] data = {group.rank() + 1, 10 * group.rank()};
            group.allReduce(data, ReduceOp.SUM);
            assertArrayEquals(new float[] {15, 100}, data);
        });
    }

    @Test
    void settingsOfTheGroupAreInForce() {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(3, Map.of("ferro.timeout", "1500ms"));
        Ranks.run(
                ranks,
                group -> assertEquals(Duration.ofMillis(1500), group.backend().timeout()));
    }

    @Test
    void settingsThatMakeNoSenseAreRefused() {
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
    void messagesSmallAndLargeArrive() {
        Ranks.run(SimulatedBackend.createGroup(2), group -> {
            for (int length : new int[] {1, 1000, 300_000}) {
                int[] data = new int[length];
                if (group.rank() == 0) {
                    Arrays.fill(data, length + 3);
                    group.send(data, 1, 7);
                } else {
                    group.recv(data, 0, 7);
                    assertEquals(length + 3, data[length - 1]);
                }
            }
        });
    }

    @Test
    void subgroupsWorkBesideTheirParent() {
        Ranks.run(SimulatedBackend.createGroup(4), group -> {
            try (ProcessGroup half = group.split(group.rank() % 2, group.rank()).orElseThrow()) {
                int[] data = {group.rank() + 1};
                half.allReduce(data, ReduceOp.PRODUCT);
                assertEquals(group.rank() % 2 == 0 ? 3 : 8, data[0]);
                group.barrier();
            }
        });
    }

    @Test
    void deathOfARankEndsEveryRankInACall() {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(3, Map.of("ferro.timeout", "20s"));
        Ranks.run(ranks, group -> {
            if (group.rank() == 2) {
                ranks.get(2).kill(2);
                return;
            }
            FerroException failure =
                    assertThrows(FerroException.class, () -> group.allReduce(new int[3000], ReduceOp.SUM));
            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
            assertEquals(Set.of(2), failure.where().culprits());
        });
    }

    @Test
    void aHundredRanksMeet() {
        ranksMeet(100);
    }

    /** Takes 65 to 80 s alone on two cores, and minutes beside other work. */
    @Test
    @Tag("long")
    @Timeout(900)
    void aThousandRanksMeet() {
        ranksMeet(1000);
    }

    private static void ranksMeet(int worldSize) {
        List<SimulatedBackend> ranks = SimulatedBackend.createGroup(worldSize, Map.of("ferro.timeout", "10m"));
        int sumOfAll = worldSize * (worldSize - 1) / 2 + 2 * worldSize;
        Ranks.runOnLightThreads(ranks, Duration.ofMinutes(10), group -> {
            group.barrier();
            int[] data = new int[256];
            Arrays.fill(data, group.rank() + 2);
            group.allReduce(data, ReduceOp.SUM);
            assertTrue(Arrays.stream(data).allMatch(sum -> sum == sumOfAll), "rank " + group.rank());
        });
    }
}

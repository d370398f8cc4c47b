package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Random programs with random faults, on groups of which each rank tells only its neighbours. */
class OverlayUnderSeedsTest {
    private static final int SIZE = 16;
    private static final long SEEDS = 2_000;
    /** Groups of more ranks than this are no full mesh here. */
    private static final int MAX_MESH = 4;

    @ParameterizedTest
    @CsvSource({"8, 600", "16, 250", "40, 60"})
    @DisplayName("whatever goes wrong, ranks that tell only their neighbours agree, and nobody hangs")
    void ranksInASparseOverlayAgreeOnEveryFailure(int size, int seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            FaultyRun.run(seed, size, Planted.NOTHING);
        }
    }

    @ParameterizedTest
    @CsvSource({"8, 20", "16, 10", "40, 5"})
    @DisplayName(
            "of one death, ranks that tell only their neighbours agree on what ranks agree on that tell all others")
    void aDeathHasTheSameResultAsInAFullMesh(int size, int seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            int dead = (int) (seed % size);
            long mesh = traceOfDeath(seed, size, size, dead);
            assertNotEquals(mesh, traceOfDeath(seed, size, MAX_MESH, dead), "seed " + seed);
        }
    }

    private static long traceOfDeath(long seed, int size, int maxMesh, int dead) {
        SteppedRank.EngineInputs making = SteppedRank.EngineInputs.SHIPPED.withMesh(maxMesh);
        return death(new Simulation(size, seed, Map.of(), making), size, dead).traceHash();
    }

    /** Runs a simulation in which a rank dies while the others wait for it, and checks what they say of the death. */
    static Simulation.Result death(Simulation simulation, int size, int dead) {
        return simulation
                .faults(List.of(new Fault.Crash(20L * size, dead)))
                .onEveryRank(group -> {
                    if (group.rank() != dead) {
                        group.allReduceAsync(new float[] {1}, ReduceOp.SUM);
                    }
                })
                .check(() -> {
                    for (int rank = 0; rank < size; rank++) {
                        if (rank != dead) {
                            FerroException failure =
                                    simulation.group(rank).failure().orElseThrow();
                            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
                            assertEquals(Set.of(dead), failure.where().culprits());
                        }
                    }
                })
                .run();
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.INCLUDE,
            names = {"NO_ABORT_FLOOD", "NOTHING_TOLD_ON", "FIRST_CAUSE_ONLY", "ONLY_HIGHER_TOLD"})
    @DisplayName("mistakes in what ranks tell are found there too")
    void plantedMistakesOfTheOverlayAreFound(Planted planted) {
        long seed = 1;
        while (seed <= SEEDS && PlantedFaultsTest.finding(seed, SIZE, planted).isEmpty()) {
            seed++;
        }
        assertTrue(seed <= SEEDS, planted + " was not found: " + planted.text());
    }
}

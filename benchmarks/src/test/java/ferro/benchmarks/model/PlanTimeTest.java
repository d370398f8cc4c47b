package ferro.benchmarks.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.benchmarks.Measured;
import ferro.collectives.algorithm.AlgorithmRegistry;
import ferro.collectives.algorithm.Topology;
import ferro.collectives.plan.Plan;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlanTimeTest {
    private static final Rates RATES = new Rates(5, 0.001, 0.002, 0.003);

    @Test
    void oneMessageCostsItsCoresItsLinkAndItsLatency() {
        PlanTime.Load whole = new PlanTime.Load(1000, 1000, true, 2);

        double micros = PlanTime.micros(plans(CollectiveKind.BROADCAST, "linear", 2), whole, RATES);

        assertEquals(2 + 1 + 5 + 2, micros, 1e-9);
    }

    @Test
    void piecesTravelWhileEarlierOnesAreReceived() {
        double whole = PlanTime.micros(
                plans(CollectiveKind.BROADCAST, "linear", 2), new PlanTime.Load(64000, 64000, true, 2), RATES);
        double pieces = PlanTime.micros(
                plans(CollectiveKind.BROADCAST, "linear", 2), new PlanTime.Load(64000, 1000, true, 2), RATES);

        assertEquals(128 + 64 + 5 + 128, whole, 1e-9);
        assertEquals(128 + 1 + 5 + 2, pieces, 1e-9);
    }

    @Test
    void aRingTakesItsStepsOneAfterTheOther() {
        // 2 x (p - 1) steps of a quarter: each core sends and receives, half of them add, a latency and a link per step
        double step = 2 * 250 * 0.002 + 250 * 0.001 + 5;

        double micros = PlanTime.micros(
                plans(CollectiveKind.ALL_REDUCE, "ring", 4), new PlanTime.Load(1000, 1000, true, 4), RATES);

        assertEquals(6 * step + 3 * 250 * 0.003, micros, 1e-9);
    }

    @Test
    void ranksThatShareACoreTakeLonger() {
        double apart = PlanTime.micros(
                plans(CollectiveKind.ALL_REDUCE, "ring", 4), new PlanTime.Load(1 << 20, 1 << 14, true, 4), RATES);
        double shared = PlanTime.micros(
                plans(CollectiveKind.ALL_REDUCE, "ring", 4), new PlanTime.Load(1 << 20, 1 << 14, true, 2), RATES);

        assertTrue(shared > 1.5 * apart, () -> shared + " against " + apart);
    }

    @Test
    void whereAllRanksDoTheSameOneOfThemTellsTheTime() {
        for (String algorithm : List.of("ring", "recursiveDoubling", "halvingDoubling")) {
            List<Plan> plans = plans(CollectiveKind.ALL_REDUCE, algorithm, 8);

            double all = PlanTime.micros(plans, new PlanTime.Load(1 << 16, 1 << 20, true, 8), RATES);
            double one = PlanTime.mirroredMicros(plans.get(0), new PlanTime.Load(1 << 16, 1 << 20, true, 1), RATES);

            assertEquals(all, one, 0.05 * all, algorithm);
        }
    }

    @Test
    void everyAlgorithmPlaysToItsEnd() {
        for (Measured collective : Measured.values()) {
            if (collective == Measured.PINGPONG) {
                continue;
            }
            for (String algorithm : AlgorithmRegistry.names(collective.kind(), Topology.FLAT)) {
                PlanTime.Load load = new PlanTime.Load(70_000, 1 << 12, false, 2);
                double micros = PlanTime.micros(plans(collective.kind(), algorithm, 5), load, RATES);
                double alone = PlanTime.mirroredMicros(
                        plans(collective.kind(), algorithm, 5).get(0), load, RATES);
                assertTrue(micros >= 5 && alone > 0, () -> algorithm + " of " + collective + ": " + micros);
            }
        }
    }

    private static List<Plan> plans(CollectiveKind kind, String algorithm, int worldSize) {
        return IntStream.range(0, worldSize)
                .mapToObj(rank -> AlgorithmRegistry.of(kind, algorithm).plan(rank, worldSize, 0, null))
                .toList();
    }
}

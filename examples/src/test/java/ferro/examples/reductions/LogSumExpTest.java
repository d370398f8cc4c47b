package ferro.examples.reductions;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.simulated.SimulatedBackend;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogSumExpTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void probabilitiesBelowEveryDoubleAreSummed(int worldSize) {
        SimulatedBackend.run(worldSize, group -> {
            double[] logs = LogSumExp.evidence(group);

            double sum = 0;
            for (int rank = 0; rank < worldSize; rank++) {
                sum += Math.exp(-rank);
            }
            assertEquals(-1000 + Math.log(sum), logs[0], 1e-12);
            assertEquals(-2000 + Math.log(worldSize), logs[1], 1e-12);
            assertEquals(-3, logs[2]);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5})
    void theLargestByMagnitudeKeepsItsSignAndTiesArePositive(int worldSize) {
        SimulatedBackend.run(worldSize, group -> {
            float[] extremes = LogSumExp.extremes(group);

            float max = worldSize - 0.5f;
            assertArrayEquals(new float[] {max, -max, 2}, extremes);
        });
    }
}

package ferro.examples.heat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.simulated.SimulatedBackend;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeatGridTest {
    private static final int SIZE = 13; // blocks of unequal size
    private static final int STEPS = 40; // more than cells on a side, so that heat crosses all blocks

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 6, 9})
    void thePlateHasTheBitsThatOneArrayGives(int worldSize) {
        double[] expected = inOneArray();
        SimulatedBackend.run(worldSize, group -> {
            double[] plate = new HeatGrid(group, SIZE).run(STEPS);
            assertArrayEquals(bits(group.rank() == 0 ? expected : new double[0]), bits(plate));
        });
        assertTrue(expected[SIZE * SIZE - 1] > 0, "the heat has not reached the last cell");
    }

    @Test
    void aPlateWithFewerCellsThanBlocksIsRefused() {
        SimulatedBackend.run(3, group -> {
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> new HeatGrid(group, 2));
            assertEquals("need at least 3 cells on each side, found 2", refused.getMessage());
        });
    }

    /** Computes the same steps with rows and columns, and without blocks. */
    private static double[] inOneArray() {
        double[][] now = new double[SIZE + 2][SIZE + 2];
        Arrays.fill(now[0], 100);
        for (int step = 0; step < STEPS; step++) {
            double[][] next = new double[SIZE + 2][SIZE + 2];
            Arrays.fill(next[0], 100);
            for (int y = 1; y <= SIZE; y++) {
                for (int x = 1; x <= SIZE; x++) {
                    double around = now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1];
                    next[y][x] = now[y][x] + 0.2 * (around - 4 * now[y][x]);
                }
            }
            now = next;
        }
        double[][] last = now;
        return Arrays.stream(last, 1, SIZE + 1)
                .flatMapToDouble(row -> Arrays.stream(row, 1, SIZE + 1))
                .toArray();
    }

    private static long[] bits(double[] values) {
        return Arrays.stream(values).mapToLong(Double::doubleToRawLongBits).toArray();
    }
}

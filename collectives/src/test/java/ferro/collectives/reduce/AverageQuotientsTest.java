package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Vector kernels make some quotients by a reciprocal; each has the bits of a division. */
class AverageQuotientsTest {
    /** Several loops, so that one that stops is followed by others. */
    private static final int COUNT = 3 * (1 << 14);

    @ParameterizedTest
    @ValueSource(ints = {3, 5, 6, 7, 11, 13, 24, 49, 100, 641, 1_000, 65_535, 1_048_575, Integer.MAX_VALUE})
    void quotientsOfF64HaveTheBitsOfADivision(int worldSize) {
        Random random = new Random(worldSize);
        double[] sums = new double[COUNT];
        for (int i = 0; i < COUNT; i++) {
            // bits of every kind; and what is nearest to a multiple
            double any = Double.longBitsToDouble(random.nextLong());
            long close = Double.doubleToRawLongBits(any * worldSize) + random.nextInt(5) - 2;
            sums[i] = i % 2 == 0 ? any : Double.longBitsToDouble(close);
        }

        assertQuotients(sums, worldSize);
        for (int i = 0; i < COUNT; i++) {
            // none so small that a loop stops
            sums[i] = sums[i] == 0 || Math.abs(sums[i]) > 0x1p-900 ? sums[i] : -0x1p-900;
        }
        assertQuotients(sums, worldSize);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 6, 7, 1_000, 1_048_575})
    void quotientsOfAllMagnitudesHaveTheBitsOfADivision(int worldSize) {
        int each = COUNT / (2 * Double.MAX_EXPONENT + 53);
        Random random = new Random(worldSize);
        double[] sums = new double[COUNT];
        for (int i = 0; i < COUNT; i++) {
            double fraction = i % each == 0 ? 1 : i % each == 1 ? Math.nextDown(2.0) : 1 + random.nextDouble();
            // from the largest down to nothing, so that a loop stops in the last third of all alone
            sums[i] = (i % 2 == 0 ? 1 : -1) * Math.scalb(fraction, Double.MAX_EXPONENT - i / each);
        }

        assertQuotients(sums, worldSize);
    }

    @ParameterizedTest
    @ValueSource(
            doubles = {
                0.0,
                -0.0,
                Double.MIN_VALUE,
                -3 * Double.MIN_VALUE,
                Double.MIN_NORMAL,
                0x1.fffffffffffffp-901,
                0x1p-900,
                Double.MAX_VALUE,
                -Double.MAX_VALUE,
                Double.POSITIVE_INFINITY,
                Double.NEGATIVE_INFINITY,
                Double.NaN
            })
    void quotientsOfSpecialF64ValuesAreRight(double special) {
        for (int at : new int[] {0, 1, 7, 8, 500, (1 << 14) - 1, 1 << 14, COUNT - 1}) {
            double[] sums = new Random(at).doubles(COUNT, -1e3, 1e3).toArray();
            sums[at] = special;
            sums[COUNT / 2] = Double.NaN;
            assertQuotients(sums, 3);
        }
    }

    private void assertQuotients(double[] sums, int worldSize) {
        assumeTrue(KernelFactory.VECTORS != null, KernelFactory.inForce());
        Kernel average =
                KernelFactory.VECTORS.untried(DataType.FLOAT64, ReduceOp.AVG, worldSize, PreMulOperands.NEITHER);
        double[] one = sums.clone();
        double[] both = sums.clone();
        double[] second = zeros();
        average.combine(one, 0, zeros(), 0, COUNT);
        average.combineBoth(both, 0, second, 0, COUNT);
        for (int i = 0; i < COUNT; i++) {
            long needed = Double.doubleToLongBits(sums[i] / worldSize);
            if (needed != Double.doubleToRawLongBits(one[i])) {
                fail(sums[i] + " / " + worldSize + ", element " + i + ": need " + sums[i] / worldSize + ", found "
                        + one[i]);
            }
            assertEquals(needed, Double.doubleToRawLongBits(both[i]), "element " + i);
            assertEquals(needed, Double.doubleToRawLongBits(second[i]), "element " + i + " of the second");
        }
    }

    /** Added, they change no bit. */
    private static double[] zeros() {
        double[] zeros = new double[COUNT];
        Arrays.fill(zeros, -0.0);
        return zeros;
    }
}

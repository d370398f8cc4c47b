package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.ReduceOp;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AverageKernelsTest {
    private static final double[] DOUBLES = {
        0.0,
        -0.0,
        1,
        -1.5,
        7,
        1.0 / 3,
        Double.MIN_VALUE,
        -Double.MIN_VALUE,
        3 * Double.MIN_VALUE,
        Double.MIN_NORMAL,
        Math.nextDown(Double.MIN_NORMAL),
        Double.MAX_VALUE,
        -Double.MAX_VALUE,
        Double.MAX_VALUE / 3,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        Double.longBitsToDouble(0xfff8_0000_0000_0123L)
    };

    private static final float[] FLOATS = {
        0.0f,
        -0.0f,
        1,
        -1.5f,
        7,
        1.0f / 3,
        Float.MIN_VALUE,
        -Float.MIN_VALUE,
        3 * Float.MIN_VALUE,
        Float.MIN_NORMAL,
        Math.nextDown(Float.MIN_NORMAL),
        Float.MAX_VALUE,
        -Float.MAX_VALUE,
        Float.MAX_VALUE / 3,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.intBitsToFloat(0xffc1_2345)
    };

    /** Exact for every sum of two doubles, and long enough that no quotient comes near a tie by being cut. */
    private static final MathContext LONG = new MathContext(1_500);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 7, 8, 49, 1_000})
    void roundTheSumOfF64AndThenTheQuotient(int worldSize) {
        int count = DOUBLES.length;
        double[] into = new double[count * count];
        double[] source = new double[count * count];
        for (int i = 0; i < into.length; i++) {
            into[i] = DOUBLES[i / count];
            source[i] = DOUBLES[i % count];
        }
        double[] first = into.clone();

        Kernels.of(DataType.FLOAT64, ReduceOp.AVG, worldSize).combine(into, 0, source, 0, into.length);

        for (int i = 0; i < into.length; i++) {
            long needed = Double.doubleToRawLongBits(average(first[i], source[i], worldSize));
            String what = "(" + first[i] + " + " + source[i] + ") / " + worldSize;
            assertEquals(Long.toHexString(needed), Long.toHexString(Double.doubleToRawLongBits(into[i])), what);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 7, 8, 49, 1_000})
    void roundTheSumOfF32AndThenTheQuotient(int worldSize) {
        int count = FLOATS.length;
        float[] into = new float[count * count];
        float[] source = new float[count * count];
        for (int i = 0; i < into.length; i++) {
            into[i] = FLOATS[i / count];
            source[i] = FLOATS[i % count];
        }
        float[] first = into.clone();

        Kernels.of(DataType.FLOAT32, ReduceOp.AVG, worldSize).combine(into, 0, source, 0, into.length);

        for (int i = 0; i < into.length; i++) {
            int needed = Float.floatToRawIntBits(average(first[i], source[i], worldSize));
            String what = "(" + first[i] + " + " + source[i] + ") / " + worldSize;
            assertEquals(Integer.toHexString(needed), Integer.toHexString(Float.floatToRawIntBits(into[i])), what);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void addAndDivideHalvesInF32AndRoundOnce(DataType type) {
        int count = 1 << 16;
        for (int worldSize : new int[] {2, 3, 7}) {
            short[] into = new short[count];
            short[] source = new short[count];
            for (int i = 0; i < count; i++) {
                into[i] = (short) i;
                // odd, so that every element comes once; the neighbours of every element come with many others
                source[i] = (short) (i * 40_503 + worldSize);
            }
            short[] first = into.clone();

            Kernels.of(type, ReduceOp.AVG, worldSize).combine(into, 0, source, 0, count);

            for (int i = 0; i < count; i++) {
                float average = average(HalfFloats.widen(type, first[i]), HalfFloats.widen(type, source[i]), worldSize);
                int needed = HalfFloats.narrow(type, average) & 0xffff;
                if (needed != (into[i] & 0xffff)) {
                    fail(type.label() + " " + Integer.toHexString(first[i] & 0xffff) + " and "
                            + Integer.toHexString(source[i] & 0xffff) + " over " + worldSize + ": need "
                            + Integer.toHexString(needed) + ", found " + Integer.toHexString(into[i] & 0xffff));
                }
            }
        }
    }

    @Test
    void ofHalvesWhoseSumIsNoNumberOfTheTypeAreNumbers() {
        short[] half = {0x7bff, (short) 0xfbff, 0x7c00};
        Kernels.of(DataType.FLOAT16, ReduceOp.AVG, 2).combine(half, 0, new short[] {0x7bff, (short) 0xfbff, 0}, 0, 3);
        assertArrayEquals(new short[] {0x7bff, (short) 0xfbff, 0x7c00}, half);

        // 1 + 2^-8 + 2^-15, a little more than a tie of bf16, by 3: with a sum of bf16 it is 0x3eac
        short[] brain = {0x3f80};
        Kernels.of(DataType.BFLOAT16, ReduceOp.AVG, 3).combine(brain, 0, new short[] {0x3b81}, 0, 1);
        assertArrayEquals(new short[] {0x3eab}, brain);
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64"})
    void haveTheBitsOfASumAndADivisionInEveryMemoryAndLength(DataType type) {
        Kernel sum = Kernels.of(type, ReduceOp.SUM, 3);
        Kernel average = Kernels.of(type, ReduceOp.AVG, 3);
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                for (int length : new int[] {10_007, 0, 1, 16, 17, 255, 256, 257, 511, 512, 513, 2_049, 1}) {
                    Run expected = filled(type, first, 3, length);
                    Run given = filled(type, second, 4, length);
                    sum.combine(expected.memory(), expected.offset(), given.memory(), given.offset(), length);
                    Division.divide(type, expected.memory(), expected.offset(), length, 3);

                    Run into = filled(type, first, 3, length);
                    average.combine(into.memory(), into.offset(), given.memory(), given.offset(), length);
                    assertSameElements(expected, into, length);

                    Run one = filled(type, first, 3, length);
                    average.combineBoth(one.memory(), one.offset(), given.memory(), given.offset(), length);
                    assertSameElements(expected, one, length);
                    for (int i = 0; i < length; i++) {
                        assertEquals(expected.at(i), given.at(i), "element " + i + " of " + length + " of " + given);
                    }
                    assertEquals(filled(type, second, 4, length).at(length), given.at(length), "behind the run");
                }
            }
        }
    }

    private static void assertSameElements(Run expected, Run found, int length) {
        for (int i = 0; i <= length; i++) {
            assertEquals(expected.at(i), found.at(i), "element " + i + " of " + length + " of " + found);
        }
    }

    private static Run filled(DataType type, Kind kind, int skip, int length) {
        Run run = Memories.of(type, kind, skip, length);
        Random random = new Random(31 * skip + length);
        for (int i = 0; i <= length; i++) {
            run.put(i, random.nextGaussian() * 1e3);
        }
        return run;
    }

    private static double average(double a, double b, int worldSize) {
        double sum = a + b;
        if (Double.isNaN(sum)) {
            return Double.NaN;
        }
        if (sum == 0 || Double.isInfinite(sum)) {
            return sum;
        }
        BigDecimal quotient = new BigDecimal(sum).divide(BigDecimal.valueOf(worldSize), LONG);
        return Double.parseDouble(quotient.toString());
    }

    private static float average(float a, float b, int worldSize) {
        float sum = a + b;
        if (Float.isNaN(sum)) {
            return Float.NaN;
        }
        if (sum == 0 || Float.isInfinite(sum)) {
            return sum;
        }
        // a double has more than twice the digits of the sum, so that rounding to it first changes no result that is
        // normal
        float byDouble = (float) ((double) sum / worldSize);
        return Math.abs(byDouble) > 2 * Float.MIN_NORMAL
                ? byDouble
                : Float.parseFloat(new BigDecimal(sum)
                        .divide(BigDecimal.valueOf(worldSize), LONG)
                        .toString());
    }
}

package ferro.collectives.reduce;

import static ferro.collectives.reduce.Memories.bits;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class AverageKernelsTest {
    private static final Double[] DOUBLES = {
        0.0,
        -0.0,
        1.0,
        -1.5,
        7.0,
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

    private static final Float[] FLOATS = {
        0.0f,
        -0.0f,
        1f,
        -1.5f,
        7f,
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
    @CsvSource({
        "FLOAT64,1", "FLOAT64,2", "FLOAT64,3", "FLOAT64,5", "FLOAT64,7", "FLOAT64,8", "FLOAT64,49", "FLOAT64,1000",
        "FLOAT32,1", "FLOAT32,2", "FLOAT32,3", "FLOAT32,5", "FLOAT32,7", "FLOAT32,8", "FLOAT32,49", "FLOAT32,1000"
    })
    void anAverageRoundsTheSumAndThenTheQuotient(DataType type, int worldSize) {
        Number[] corners = type == DataType.FLOAT32 ? FLOATS : DOUBLES;
        int count = corners.length * corners.length;
        Run into = Memories.of(type, Kind.ARRAY, 0, count);
        Run source = Memories.of(type, Kind.ARRAY, 0, count);
        for (int i = 0; i < count; i++) {
            into.put(i, corners[i / corners.length]);
            source.put(i, corners[i % corners.length]);
        }

        KernelFactory.of(type, ReduceOp.AVG, worldSize).combine(into.memory(), 0, source.memory(), 0, count);

        for (int i = 0; i < count; i++) {
            Number a = corners[i / corners.length];
            Number b = corners[i % corners.length];
            Number needed = average(type, a, b, worldSize);
            String what = "(" + a + " + " + b + ") / " + worldSize + ": need " + needed + ", found " + into.at(i);
            assertEquals(bits(needed), bits(into.at(i)), what);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void anAverageOfHalvesIsComputedInF32AndRoundedOnce(DataType type) {
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

            KernelFactory.of(type, ReduceOp.AVG, worldSize).combine(into, 0, source, 0, count);

            for (int i = 0; i < count; i++) {
                float left = HalfFloats.widen(type, first[i]);
                float right = HalfFloats.widen(type, source[i]);
                Number average = average(DataType.FLOAT32, left, right, worldSize);
                int needed = HalfFloats.narrow(type, average.floatValue()) & 0xffff;
                if (needed != (into[i] & 0xffff)) {
                    fail(type.label() + " " + Integer.toHexString(first[i] & 0xffff) + " and "
                            + Integer.toHexString(source[i] & 0xffff) + " over " + worldSize + ": need "
                            + Integer.toHexString(needed) + ", found " + Integer.toHexString(into[i] & 0xffff));
                }
            }
        }
    }

    @Test
    void anAverageOfHalvesDoesNotOverflow() {
        short[] half = {0x7bff, (short) 0xfbff, 0x7c00};
        KernelFactory.of(DataType.FLOAT16, ReduceOp.AVG, 2)
                .combine(half, 0, new short[] {0x7bff, (short) 0xfbff, 0}, 0, 3);
        assertArrayEquals(new short[] {0x7bff, (short) 0xfbff, 0x7c00}, half);

        // 1 + 2^-8 + 2^-15, a little more than a tie of bf16, by 3: with a sum of bf16 it is 0x3eac
        short[] brain = {0x3f80};
        KernelFactory.of(DataType.BFLOAT16, ReduceOp.AVG, 3).combine(brain, 0, new short[] {0x3b81}, 0, 1);
        assertArrayEquals(new short[] {0x3eab}, brain);
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64"})
    void anAverageHasTheBitsOfASumAndADivision(DataType type) {
        Kernel sum = KernelFactory.of(type, ReduceOp.SUM, 3);
        Kernel average = KernelFactory.of(type, ReduceOp.AVG, 3);
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                for (int length : new int[] {10_007, 0, 1, 16, 17, 255, 256, 257, 511, 512, 513, 2_049, 1}) {
                    Run expected = Memories.random(type, first, 3, length);
                    Run given = Memories.random(type, second, 4, length);
                    sum.combine(expected.memory(), expected.offset(), given.memory(), given.offset(), length);
                    for (int i = 0; i < length; i++) {
                        expected.put(i, quotient(expected.at(i), 3));
                    }

                    Run into = Memories.random(type, first, 3, length);
                    average.combine(into.memory(), into.offset(), given.memory(), given.offset(), length);
                    Memories.assertSame(expected, into, length, "average");

                    Run one = Memories.random(type, first, 3, length);
                    average.combineBoth(one.memory(), one.offset(), given.memory(), given.offset(), length);
                    Memories.assertSame(expected, one, length, "average");
                    for (int i = 0; i < length; i++) {
                        assertEquals(expected.at(i), given.at(i), "element " + i + " of " + length + " of " + given);
                    }
                    assertEquals(
                            Memories.random(type, second, 4, length).at(length), given.at(length), "behind the run");
                }
            }
        }
    }

    private static Number quotient(Number sum, int worldSize) {
        if (sum instanceof Float single) {
            return single / worldSize;
        }
        return sum.doubleValue() / worldSize;
    }

    /** Returns the sum of f32 or f64, rounded, by the world size, rounded. */
    private static Number average(DataType type, Number a, Number b, int worldSize) {
        boolean isSingle = type == DataType.FLOAT32;
        double sum = isSingle ? a.floatValue() + b.floatValue() : a.doubleValue() + b.doubleValue();
        double average =
                sum == 0 || Double.isNaN(sum) || Double.isInfinite(sum) ? sum : quotient(sum, isSingle, worldSize);
        if (isSingle) {
            return Double.isNaN(average) ? Float.NaN : (float) average;
        }
        return Double.isNaN(average) ? Double.NaN : average;
    }

    private static double quotient(double sum, boolean isSingle, int worldSize) {
        // a double has more than twice the digits of the sum, so that rounding to it first changes no result that is
        // normal
        if (isSingle && Math.abs(sum / worldSize) > 2 * Float.MIN_NORMAL) {
            return (float) (sum / worldSize);
        }
        String digits =
                new BigDecimal(sum).divide(BigDecimal.valueOf(worldSize), LONG).toString();
        return isSingle ? Float.parseFloat(digits) : Double.parseDouble(digits);
    }
}

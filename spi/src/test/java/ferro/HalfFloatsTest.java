package ferro;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HalfFloatsTest {
    private static final int[] NANS = {0x7f80_0001, 0xffc0_1234, 0xff80_0001, 0x7fff_ffff, 0xffff_ffff};

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void everyHalfWidensAsTheFormatDefines(DataType type) {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float found = HalfFloats.widen(type, (short) bits);
            double needed = byFormula(type, bits);
            // compares signs of zero, and NaN as equal to NaN
            assertEquals(Double.valueOf(needed), Double.valueOf(found), type.label() + " " + Integer.toHexString(bits));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void narrowsBackToTheSameBitsAndKeepsNaNs(DataType type) {
        for (int bits = 0; bits < 1 << 16; bits++) {
            short found = HalfFloats.narrow(type, HalfFloats.widen(type, (short) bits));
            if (Double.isNaN(byFormula(type, bits))) {
                assertTrue(Float.isNaN(HalfFloats.widen(type, found)), type.label() + " " + Integer.toHexString(bits));
            } else {
                assertEquals((short) bits, found, type.label() + " " + Integer.toHexString(bits));
            }
        }
        for (int bits : NANS) {
            short found = HalfFloats.narrow(type, Float.intBitsToFloat(bits));
            assertTrue(Float.isNaN(HalfFloats.widen(type, found)), "f32 " + Integer.toHexString(bits));
        }
        assertEquals(quietNaN(type), HalfFloats.narrow(type, Float.NaN));
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void everyHalfConvertsBothWaysBetweenAllMemories(DataType type) {
        short[] all = new short[1 << 16];
        int[] wide = new int[all.length];
        short[] back = new short[all.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = (short) i;
            double value = byFormula(type, i);
            // the one quiet NaN, whatever the payload
            wide[i] = Float.floatToIntBits((float) value);
            back[i] = Double.isNaN(value) ? quietNaN(type) : (short) i;
        }
        for (boolean direct : new boolean[] {false, true}) {
            HostTensor halves = tensor(type, all.length, direct);
            HostTensor floats = tensor(DataType.FLOAT32, all.length, !direct);
            halves.copyFrom(0, all, 0, all.length);
            HalfFloats.convert(halves, floats);
            for (int i = 0; i < all.length; i++) {
                assertEquals(wide[i], Float.floatToRawIntBits(floats.getFloat(i)), Integer.toHexString(i));
            }
            HalfFloats.convert(floats, halves);
            short[] found = new short[all.length];
            halves.copyTo(0, found, 0, found.length);
            assertArrayEquals(back, found);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void convertsValuesAtRoundingBoundariesAndQuietsNaNs(DataType type) {
        int infinity = type == DataType.FLOAT16 ? 0x7c00 : 0x7f80;
        float[] values = new float[4 * infinity];
        short[] needed = new short[values.length];
        for (int low = 0; low < infinity; low++) {
            float tie = tie(type, low);
            float[] around = {tie, Math.nextDown(tie), -Math.nextUp(tie), -tie};
            int[] rounded = {low + (low & 1), low, low + 1 | 0x8000, low + (low & 1) | 0x8000};
            for (int i = 0; i < 4; i++) {
                values[4 * low + i] = around[i];
                needed[4 * low + i] = (short) rounded[i];
            }
        }
        for (int i = 0; i < NANS.length; i++) {
            values[1_000 * i] = Float.intBitsToFloat(NANS[i]);
            needed[1_000 * i] = quietNaN(type);
        }
        short[] found = new short[values.length];
        HalfFloats.convert(HostTensor.of(values), HostTensor.of(type, found, 0, found.length));
        assertArrayEquals(needed, found);
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void elementsBesideTheTensorAreNotConverted(DataType type) {
        for (int length : new int[] {0, 1, 1_023, 1_024, 1_025, 2_048, 2_049}) {
            float[] floats = new float[length + 2];
            short[] halves = new short[length + 2];
            Arrays.fill(floats, -1.5f);
            HalfFloats.convert(
                    HostTensor.of(DataType.FLOAT32, floats, 1, length), HostTensor.of(type, halves, 1, length));
            for (int i = 0; i < halves.length; i++) {
                boolean inside = i > 0 && i <= length;
                assertEquals(inside ? HalfFloats.narrow(type, -1.5f) : 0, halves[i], i + " of " + length);
            }
            Arrays.fill(floats, 7);
            HalfFloats.convert(
                    HostTensor.of(type, halves, 1, length), HostTensor.of(DataType.FLOAT32, floats, 1, length));
            for (int i = 0; i < floats.length; i++) {
                assertEquals(i > 0 && i <= length ? -1.5f : 7, floats[i], i + " of " + length);
            }
        }
    }

    @Test
    void refusesOtherTypesAndLengths() {
        HostTensor floats = HostTensor.of(new float[3]);
        String types = assertThrows(
                        IllegalArgumentException.class, () -> HalfFloats.convert(floats, HostTensor.of(new double[3])))
                .getMessage();
        assertTrue(types.contains("from f32 to f64"), types);
        assertThrows(IllegalArgumentException.class, () -> HalfFloats.convert(floats, floats.slice(0, 3)));
        HostTensor integers = HostTensor.of(new short[3]);
        assertThrows(IllegalArgumentException.class, () -> HalfFloats.convert(integers, floats));
        HostTensor halves = HostTensor.of(DataType.FLOAT16, new short[3], 0, 3);
        HostTensor others = HostTensor.of(DataType.BFLOAT16, new short[3], 0, 3);
        assertThrows(IllegalArgumentException.class, () -> HalfFloats.convert(halves, others));
        for (DataType other : List.of(DataType.UINT16, DataType.INT16)) {
            String element = assertThrows(IllegalArgumentException.class, () -> HalfFloats.widen(other, (short) 1))
                    .getMessage();
            assertTrue(element.contains(other.label() + ": need f16 or bf16"), element);
        }
        assertThrows(IllegalArgumentException.class, () -> HalfFloats.narrow(DataType.FLOAT32, 1));
        String lengths = assertThrows(
                        IllegalArgumentException.class, () -> HalfFloats.convert(floats.slice(0, 2), halves))
                .getMessage();
        assertTrue(lengths.contains("2 elements of f32") && lengths.contains("into has 3"), lengths);
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void roundsToNearestAndTiesToEven(DataType type) {
        int infinity = type == DataType.FLOAT16 ? 0x7c00 : 0x7f80;
        for (int low = 0; low < infinity; low++) {
            float tie = tie(type, low);
            assertRounds(type, tie, low + (low & 1));
            assertRounds(type, Math.nextDown(tie), low);
            assertRounds(type, Math.nextUp(tie), low + 1);
        }
        assertRounds(type, Float.MAX_VALUE, infinity);
        assertRounds(type, Float.POSITIVE_INFINITY, infinity);
        assertRounds(type, Float.MIN_VALUE, 0);
    }

    @Test
    void convertsTheNamedValuesOfTheStandard() {
        assertEquals(65504f, HalfFloats.fromFloat16((short) 0x7bff));
        assertEquals(0x7c00, HalfFloats.toFloat16(65520f));
        assertEquals(0x7bff, HalfFloats.toFloat16(Math.nextDown(65520f)));
        assertEquals(0x1p-24f, HalfFloats.fromFloat16((short) 1));
        assertEquals(0x1p-14f, HalfFloats.fromFloat16((short) 0x0400));
        assertEquals((short) 0x8000, HalfFloats.toFloat16(-0x1p-25f), "a tie with zero keeps its sign");
        assertEquals(0x3f80, HalfFloats.toBfloat16(1));
        assertEquals((short) 0xbfc0, HalfFloats.toBfloat16(-1.5f));
    }

    @Test
    void agreesWithTheJdkFrom20On() throws Throwable {
        assumeTrue(Runtime.version().feature() >= 20, "Float.float16ToFloat came with 20");
        MethodHandle widen = jdk("float16ToFloat", MethodType.methodType(float.class, short.class));
        MethodHandle narrow = jdk("floatToFloat16", MethodType.methodType(short.class, float.class));
        for (int bits = 0; bits < 1 << 16; bits++) {
            float needed = (float) widen.invokeExact((short) bits);
            assertEquals(needed, HalfFloats.computedFromFloat16((short) bits), Integer.toHexString(bits));
        }
        int checked = 0;
        // a prime step: every exponent, and all endings of the fraction
        for (long bits = 0; bits < 1L << 32; bits += 1009) {
            float value = Float.intBitsToFloat((int) bits);
            short needed = Float.isNaN(value) ? HalfFloats.FLOAT16_NAN : (short) narrow.invokeExact(value);
            if (needed != HalfFloats.computedToFloat16(value)) {
                assertEquals(needed, HalfFloats.computedToFloat16(value), Float.toHexString(value));
            }
            checked++;
        }
        assertTrue(checked > 4_000_000, "checked " + checked);
    }

    /** Returns the middle between an element and the next. */
    private static float tie(DataType type, int low) {
        int infinity = type == DataType.FLOAT16 ? 0x7c00 : 0x7f80;
        float below = HalfFloats.widen(type, (short) low);
        // the step beyond the largest number is as long as the one before it
        double step = low + 1 == infinity
                ? below - HalfFloats.widen(type, (short) (low - 1))
                : (double) HalfFloats.widen(type, (short) (low + 1)) - below;
        float tie = (float) (below + step / 2);
        assertEquals(below + step / 2, tie, "the tie is a number of f32");
        return tie;
    }

    private static short quietNaN(DataType type) {
        return type == DataType.FLOAT16 ? (short) 0x7e00 : (short) 0x7fc0;
    }

    private static HostTensor tensor(DataType type, int count, boolean direct) {
        return direct
                ? HostTensor.allocate(type, count)
                : HostTensor.ofArray(type, type.carrier().newArray(count), 0, count);
    }

    private static MethodHandle jdk(String name, MethodType type) throws ReflectiveOperationException {
        return MethodHandles.publicLookup().findStatic(Float.class, name, type);
    }

    private static void assertRounds(DataType type, float value, int needed) {
        int found = HalfFloats.narrow(type, value) & 0xffff;
        int negative = HalfFloats.narrow(type, -value) & 0xffff;
        if (found != needed || negative != (needed | 0x8000)) {
            String what = type.label() + " of " + Float.toHexString(value);
            assertEquals(Integer.toHexString(needed), Integer.toHexString(found), what);
            assertEquals(Integer.toHexString(needed | 0x8000), Integer.toHexString(negative), "minus " + what);
        }
    }

    /** (-1)^sign x 2^(exponent - bias) x 1.fraction, or x 0.fraction at the lowest exponent; IEEE 754-2019, section 3.4. */
    private static double byFormula(DataType type, int bits) {
        int fractionBits = type == DataType.FLOAT16 ? 10 : 7;
        int bias = type == DataType.FLOAT16 ? 15 : 127;
        int exponent = (bits & 0x7fff) >> fractionBits;
        int fraction = bits & (1 << fractionBits) - 1;
        double magnitude;
        if (exponent == 2 * bias + 1) {
            magnitude = fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else if (exponent == 0) {
            magnitude = Math.scalb((double) fraction, 1 - bias - fractionBits);
        } else {
            magnitude = Math.scalb((double) (fraction + (1 << fractionBits)), exponent - bias - fractionBits);
        }
        return (bits & 0x8000) == 0 ? magnitude : -magnitude;
    }
}

package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.DataType;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HalfFloatsTest {
    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void widensAllSixtyFiveThousandAsTheFormatSays(DataType type) {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float found = HalfFloats.widen(type, (short) bits);
            double needed = byFormula(type, bits);
            // compares signs of zero, and NaN as equal to NaN
            assertEquals(Double.valueOf(needed), Double.valueOf(found), type.label() + " " + Integer.toHexString(bits));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void narrowsBackToTheSameBitsAndNaNsToTheCanonicalOne(DataType type) {
        int nan = type == DataType.FLOAT16 ? 0x7e00 : 0x7fc0;
        for (int bits = 0; bits < 1 << 16; bits++) {
            int needed = Double.isNaN(byFormula(type, bits)) ? nan : bits;
            int found = HalfFloats.narrow(type, HalfFloats.widen(type, (short) bits)) & 0xffff;
            assertEquals(needed, found, type.label() + " " + Integer.toHexString(bits));
        }
        for (int bits : new int[] {0x7f80_0001, 0xffc0_1234, 0xff80_0001, 0x7fff_ffff}) {
            assertEquals(nan, HalfFloats.narrow(type, Float.intBitsToFloat(bits)), "f32 " + Integer.toHexString(bits));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void roundsToTheNearestAndTiesToEvenBetweenAllNeighbours(DataType type) {
        int infinity = type == DataType.FLOAT16 ? 0x7c00 : 0x7f80;
        for (int low = 0; low < infinity; low++) {
            float below = HalfFloats.widen(type, (short) low);
            // the step beyond the largest number is as long as the one before it
            double step = low + 1 == infinity
                    ? below - HalfFloats.widen(type, (short) (low - 1))
                    : (double) HalfFloats.widen(type, (short) (low + 1)) - below;
            float tie = (float) (below + step / 2);
            assertEquals(below + step / 2, tie, "the tie is a number of f32");
            assertRounds(type, tie, low + (low & 1));
            assertRounds(type, Math.nextDown(tie), low);
            assertRounds(type, Math.nextUp(tie), low + 1);
        }
        assertRounds(type, Float.MAX_VALUE, infinity);
        assertRounds(type, Float.POSITIVE_INFINITY, infinity);
        assertRounds(type, Float.MIN_VALUE, 0);
    }

    @Test
    void keepsTheNumbersThatTheStandardNames() {
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
    void agreesWithTheJdkWhereItHasThem() throws Throwable {
        assumeTrue(Runtime.version().feature() >= 20, "Float.float16ToFloat came with 20");
        MethodHandle widen = jdk("float16ToFloat", MethodType.methodType(float.class, short.class));
        MethodHandle narrow = jdk("floatToFloat16", MethodType.methodType(short.class, float.class));
        for (int bits = 0; bits < 1 << 16; bits++) {
            float needed = (float) widen.invokeExact((short) bits);
            assertEquals(needed, HalfFloats.fromFloat16((short) bits), Integer.toHexString(bits));
        }
        int checked = 0;
        // a prime step: every exponent, and all endings of the fraction
        for (long bits = 0; bits < 1L << 32; bits += 1009) {
            float value = Float.intBitsToFloat((int) bits);
            short needed = Float.isNaN(value) ? HalfFloats.FLOAT16_NAN : (short) narrow.invokeExact(value);
            if (needed != HalfFloats.toFloat16(value)) {
                assertEquals(needed, HalfFloats.toFloat16(value), Float.toHexString(value));
            }
            checked++;
        }
        assertTrue(checked > 4_000_000, "checked " + checked);
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

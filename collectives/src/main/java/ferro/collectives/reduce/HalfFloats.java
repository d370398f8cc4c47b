package ferro.collectives.reduce;

import ferro.DataType;

/**
 * Conversions between f32 and the 16-bit floats. Java has them for f16 only since version 20, and has none for bf16.
 *
 * <p>Sources: f16 is binary16 of IEEE 754-2019, section 3.6 (5 bits of exponent, 10 of fraction); bf16 is the upper half
 * of binary32. Narrowing rounds to nearest, ties to even (section 4.3.1): a value half a unit above the largest number
 * becomes infinity, subnormals are kept, every NaN becomes the quiet one without payload or sign. Widening is exact.
 */
final class HalfFloats {
    static final short FLOAT16_NAN = 0x7e00;
    static final short BFLOAT16_NAN = 0x7fc0;

    private static final int SIGN = 0x8000;
    static final int FLOAT16_INFINITY = 0x7c00;
    /** Number of fraction bits that binary32 has more than binary16. */
    static final int EXTRA_FRACTION = 23 - 10;
    /** Difference of the exponent biases, 127 - 15, at the position of the exponent of binary32. */
    static final int REBIAS = (127 - 15) << 23;
    /** The smallest normal binary16, 2^-14, as binary32. */
    static final int SMALLEST_NORMAL = (127 - 14) << 23;
    /** 65520, half a unit above the largest binary16, as binary32: a tie whose even side is infinity. */
    static final int OVERFLOW = 0x477f_f000;

    private HalfFloats() {}

    /** Returns an element of type f16, else of bf16, as f32. */
    static float widen(DataType type, short element) {
        return type == DataType.FLOAT16 ? fromFloat16(element) : fromBfloat16(element);
    }

    /** Returns the nearest element of type f16, else of bf16. */
    static short narrow(DataType type, float value) {
        return type == DataType.FLOAT16 ? toFloat16(value) : toBfloat16(value);
    }

    static float fromFloat16(short element) {
        int magnitude = element & 0x7fff;
        int bits;
        if (magnitude < 1 << 10) {
            // a subnormal counts units of 2^-24
            bits = Float.floatToRawIntBits(magnitude * 0x1p-24f);
        } else if (magnitude < FLOAT16_INFINITY) {
            bits = (magnitude << EXTRA_FRACTION) + REBIAS;
        } else if (magnitude == FLOAT16_INFINITY) {
            bits = 0x7f80_0000;
        } else {
            return Float.NaN;
        }
        return Float.intBitsToFloat((element & SIGN) << 16 | bits);
    }

    static short toFloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        int magnitude = bits & Integer.MAX_VALUE;
        int half;
        if (Float.isNaN(value)) {
            return FLOAT16_NAN;
        } else if (magnitude >= OVERFLOW) {
            half = FLOAT16_INFINITY;
        } else if (magnitude >= SMALLEST_NORMAL) {
            half = cut(magnitude - REBIAS, EXTRA_FRACTION);
        } else {
            // the last bit of 0.5 is worth 2^-24, one unit of a subnormal, so that the addition rounds as required
            half = Float.floatToRawIntBits(Math.abs(value) + 0.5f) - Float.floatToRawIntBits(0.5f);
        }
        return (short) (bits >>> 16 & SIGN | half);
    }

    static float fromBfloat16(short element) {
        return Float.intBitsToFloat(element << 16);
    }

    static short toBfloat16(float value) {
        return Float.isNaN(value) ? BFLOAT16_NAN : (short) cut(Float.floatToRawIntBits(value), 16);
    }

    /** Drops low bits and rounds to nearest, ties to even; a carry correctly goes on into the exponent. */
    private static int cut(int bits, int dropped) {
        int odd = bits >>> dropped & 1;
        return bits + (1 << dropped - 1) - 1 + odd >>> dropped;
    }
}

package ferro;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Conversions between f32 and the 16-bit floats f16 and bf16, for single elements and in bulk. Any thread may call the
 * methods.
 *
 * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="halves" :
 *
 * HostTensor gradients = HostTensor.of(new float[] {1, 0.1f});
 * HostTensor halves = HostTensor.allocate(DataType.BFLOAT16, 2);
 * HalfFloats.convert(gradients, halves); // group.allReduce(halves, ReduceOp.AVG) sends half of the bytes
 * HalfFloats.convert(halves, gradients);
 * }
 *
 * <p>Sources: f16 is binary16 of IEEE 754-2019, section 3.6 (5 bits of exponent, 10 of fraction); bf16 is the upper
 * half of binary32. Narrowing rounds to nearest, ties to even (section 4.3.1). A value half a unit above the largest
 * number becomes infinity. Subnormals are kept. Widening is exact. A NaN stays NaN. {@link #convert} replaces every NaN
 * by the quiet NaN without payload and sign. All other methods keep the quiet NaN without payload and sign, and may
 * keep the payload of other NaNs.
 */
public final class HalfFloats {
    /** Bits of the quiet NaN of f16. */
    public static final short FLOAT16_NAN = 0x7e00;
    /** Bits of the quiet NaN of bf16. */
    public static final short BFLOAT16_NAN = 0x7fc0;

    private static final int SIGN = 0x8000;
    private static final int FLOAT16_INFINITY = 0x7c00;
    /** Number of additional fraction bits of binary32, compared with binary16. */
    private static final int EXTRA_FRACTION = 23 - 10;
    /** Difference of the exponent biases, 127 - 15, shifted to the bits of the exponent of binary32. */
    private static final int REBIAS = (127 - 15) << 23;
    /** The smallest normal binary16, 2^-14, as binary32. */
    private static final int SMALLEST_NORMAL = (127 - 14) << 23;
    /**
     * 65520 as binary32, which is half a unit above the largest binary16. This number is a tie, which rounds to the
     * even neighbour, infinity.
     */
    private static final int OVERFLOW = 0x477f_f000;

    /** Number of elements per block of {@link #convert}. A block fits into the first-level cache. */
    private static final int BLOCK = 1024;

    /**
     * The JDK's own conversion of f16, which exists since JDK 20; null on earlier JDKs. The JIT compiler vectorises
     * loops that use this conversion.
     */
    private static final MethodHandle WIDEN = jdk("float16ToFloat", MethodType.methodType(float.class, short.class));

    private static final MethodHandle NARROW = jdk("floatToFloat16", MethodType.methodType(short.class, float.class));

    private HalfFloats() {}

    /**
     * Converts all elements of a tensor. Elements of f32 are rounded to the nearest element of f16 or bf16, ties to
     * even. Elements of f16 or bf16 are widened to f32, which is exact. Each NaN becomes the quiet NaN without payload
     * and sign. Allocates two blocks of a few KiB per call.
     *
     * @param from elements of f32, f16 or bf16, which are not changed
     * @param into as many elements in other memory; of f16 or bf16 if {@code from} has f32, otherwise of f32
     * @throws IllegalArgumentException unless one type is f32 and the other is f16 or bf16; or if the lengths differ
     */
    public static void convert(HostTensor from, HostTensor into) {
        DataType given = requireNonNull(from, "from").dataType();
        DataType wanted = requireNonNull(into, "into").dataType();
        if (!(given == DataType.FLOAT32 && isHalf(wanted)) && !(isHalf(given) && wanted == DataType.FLOAT32)) {
            throw new IllegalArgumentException("convert from " + given.label() + " to " + wanted.label()
                    + ": need f32 on one side, and f16 or bf16 on the other");
        }
        if (from.elementCount() != into.elementCount()) {
            throw new IllegalArgumentException("convert of " + from.elementCount() + " elements of " + given.label()
                    + ": into has " + into.elementCount() + " elements, need the same number");
        }
        long count = from.elementCount();
        int block = (int) Math.min(BLOCK, count);
        float[] floats = new float[block];
        short[] halves = new short[block];
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            if (wanted == DataType.FLOAT32) {
                from.copyTo(done, halves, 0, length);
                widen(given, halves, floats);
                into.copyFrom(done, floats, 0, length);
            } else {
                from.copyTo(done, floats, 0, length);
                narrow(wanted, floats, halves);
                into.copyFrom(done, halves, 0, length);
            }
        }
    }

    private static boolean isFloat16(DataType type) {
        if (!isHalf(requireNonNull(type, "type"))) {
            throw new IllegalArgumentException("conversion of an element of " + type.label() + ": need f16 or bf16");
        }
        return type == DataType.FLOAT16;
    }

    private static boolean isHalf(DataType type) {
        return type.isFloating() && type.carrier() == Carrier.SHORT;
    }

    /** Widens a block. The loops only widen elements, so that the JIT compiler can vectorise the loops. */
    private static void widen(DataType type, short[] halves, float[] floats) {
        if (type == DataType.FLOAT16) {
            for (int i = 0; i < halves.length; i++) {
                floats[i] = fromFloat16(halves[i]);
            }
        } else {
            for (int i = 0; i < halves.length; i++) {
                floats[i] = fromBfloat16(halves[i]);
            }
        }
        for (int i = 0; i < floats.length; i++) {
            if (Float.isNaN(floats[i])) {
                floats[i] = Float.NaN;
            }
        }
    }

    private static void narrow(DataType type, float[] floats, short[] halves) {
        if (type == DataType.BFLOAT16) {
            for (int i = 0; i < floats.length; i++) {
                halves[i] = toBfloat16(floats[i]);
            }
            return;
        }
        for (int i = 0; i < floats.length; i++) {
            halves[i] = toFloat16(floats[i]);
        }
        for (int i = 0; i < floats.length; i++) {
            if (Float.isNaN(floats[i])) {
                halves[i] = FLOAT16_NAN;
            }
        }
    }

    /**
     * Widens an element to f32.
     *
     * @param type    f16 or bf16
     * @param element bits of the element
     * @return value of the element
     * @throws IllegalArgumentException if the type is neither f16 nor bf16
     */
    public static float widen(DataType type, short element) {
        return isFloat16(type) ? fromFloat16(element) : fromBfloat16(element);
    }

    /**
     * Rounds a number to the nearest element of f16 or bf16.
     *
     * @param type  f16 or bf16
     * @param value number to round
     * @return bits of the element
     * @throws IllegalArgumentException if the type is neither f16 nor bf16
     */
    public static short narrow(DataType type, float value) {
        return isFloat16(type) ? toFloat16(value) : toBfloat16(value);
    }

    /**
     * Widens an element of f16 to f32.
     *
     * @param element bits of the element
     * @return value of the element
     */
    public static float fromFloat16(short element) {
        if (WIDEN == null) {
            return computedFromFloat16(element);
        }
        try {
            return (float) WIDEN.invokeExact(element);
        } catch (Throwable impossible) {
            throw new IllegalStateException("cannot convert f16 bits to f32: " + element, impossible);
        }
    }

    static float computedFromFloat16(short element) {
        int magnitude = element & 0x7fff;
        int bits;
        if (magnitude < 1 << 10) {
            // the bits of a subnormal are a multiple of 2^-24
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

    /**
     * Rounds a number to the nearest element of f16.
     *
     * @param value number to round
     * @return bits of the element
     */
    public static short toFloat16(float value) {
        if (NARROW == null) {
            return computedToFloat16(value);
        }
        try {
            return (short) NARROW.invokeExact(value);
        } catch (Throwable impossible) {
            throw new IllegalStateException("cannot convert " + value + " to f16", impossible);
        }
    }

    static short computedToFloat16(float value) {
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
            // the last bit of 0.5 is worth 2^-24, which is one unit of a subnormal, so the addition rounds as required
            half = Float.floatToRawIntBits(Math.abs(value) + 0.5f) - Float.floatToRawIntBits(0.5f);
        }
        return (short) (bits >>> 16 & SIGN | half);
    }

    /**
     * Widens an element of bf16 to f32.
     *
     * @param element bits of the element
     * @return value of the element
     */
    public static float fromBfloat16(short element) {
        return Float.intBitsToFloat(element << 16);
    }

    /**
     * Rounds a number to the nearest element of bf16.
     *
     * @param value number to round
     * @return bits of the element
     */
    public static short toBfloat16(float value) {
        return Float.isNaN(value) ? BFLOAT16_NAN : (short) cut(Float.floatToRawIntBits(value), 16);
    }

    /** Drops low bits and rounds to nearest, ties to even. A carry into the exponent gives the correct result. */
    private static int cut(int bits, int dropped) {
        int odd = bits >>> dropped & 1;
        return bits + (1 << dropped - 1) - 1 + odd >>> dropped;
    }

    private static MethodHandle jdk(String name, MethodType type) {
        try {
            return MethodHandles.publicLookup().findStatic(Float.class, name, type);
        } catch (ReflectiveOperationException before20) {
            return null;
        }
    }
}

package ferro.collectives.reduce;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops that multiply blocks of f16. Products are computed without the scale of {@link Float16Converter}. A scaled
 * subnormal product may have more bits than f32 keeps, and would be rounded twice. A single loop would have too many
 * operations (see {@link Loops}), so the work is divided into two loops. Between the two loops, the upper elements of a
 * vector of pairs come before the lower elements.
 */
final class Float16Loops {
    private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final int LANES = SHORTS.length();
    private static final int PAIRS = FLOATS.length();
    private static final FloatVector UNSCALED = FloatVector.broadcast(FLOATS, Float16Converter.UNSCALED);
    private static final FloatVector SCALED = FloatVector.broadcast(FLOATS, 1 / Float16Converter.UNSCALED);
    private static final IntVector SIGN = IntVector.broadcast(INTS, Integer.MIN_VALUE);
    private static final IntVector EXPONENT = IntVector.broadcast(INTS, 0x7f80_0000);
    private static final IntVector SMALLEST_NORMAL = IntVector.broadcast(INTS, 127 - 14 << 23);
    /** The number 65536, which is more than half a unit above the largest element. */
    private static final IntVector INFINITE = IntVector.broadcast(INTS, 127 + 16 << 23);
    /**
     * Addend for the bits of an exponent, which gives a number 1.5 * 2^13 times as large. The last bit of the larger
     * number has the value of the last bit of an element.
     */
    private static final IntVector ROUNDING = IntVector.broadcast(INTS, (13 << 23) + (1 << 22));

    private Float16Loops() {}

    /** Returns whether an element of two blocks is infinite or NaN. */
    static boolean isSpecial(short[] left, short[] right) {
        ShortVector largest = ShortVector.zero(SHORTS);
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            largest = largest.max(Float16Converter.magnitudes(ShortVector.fromArray(SHORTS, left, i)))
                    .max(Float16Converter.magnitudes(ShortVector.fromArray(SHORTS, right, i)));
        }
        return Float16Converter.holdSpecial(largest);
    }

    /** Multiplies two blocks. */
    static void multiply(short[] left, short[] right, float[] products) {
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            IntVector a = ShortVector.fromArray(SHORTS, left, i).reinterpretAsInts();
            IntVector b = ShortVector.fromArray(SHORTS, right, i).reinterpretAsInts();
            FloatVector upper = Float16Converter.upper(a).mul(UNSCALED);
            upper.mul(Float16Converter.upper(b).mul(UNSCALED)).intoArray(products, i);
            FloatVector lower = Float16Converter.lower(a).mul(UNSCALED);
            lower.mul(Float16Converter.lower(b).mul(UNSCALED)).intoArray(products, i + PAIRS);
        }
    }

    /**
     * Multiplies a block by a factor. The factor is at most 2^15, so that the product of the factor and
     * {@link Float16Converter#UNSCALED} is finite.
     */
    static void multiplyBy(float factor, short[] elements, float[] products) {
        FloatVector unscaled = FloatVector.broadcast(FLOATS, factor * Float16Converter.UNSCALED);
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            IntVector pairs = ShortVector.fromArray(SHORTS, elements, i).reinterpretAsInts();
            Float16Converter.upper(pairs).mul(unscaled).intoArray(products, i);
            Float16Converter.lower(pairs).mul(unscaled).intoArray(products, i + PAIRS);
        }
    }

    /** Rounds a block of products to elements. Each product must be below 2^34. */
    static void narrow(float[] products, short[] elements) {
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            IntVector upper = element(FloatVector.fromArray(FLOATS, products, i));
            IntVector lower = element(FloatVector.fromArray(FLOATS, products, i + PAIRS));
            Float16Converter.joined(upper, lower).intoArray(elements, i);
        }
    }

    /** Rounds numbers to elements and scales the elements. Numbers that round to more than the largest become 65536. */
    private static IntVector element(FloatVector numbers) {
        IntVector bits = numbers.reinterpretAsInts();
        FloatVector rounding =
                bits.and(EXPONENT).max(SMALLEST_NORMAL).add(ROUNDING).reinterpretAsFloats();
        // a number that is rounded to 0 keeps its sign
        IntVector signs = bits.and(SIGN);
        IntVector magnitudes = numbers.add(rounding)
                .sub(rounding)
                .reinterpretAsInts()
                .lanewise(VectorOperators.AND_NOT, SIGN)
                .min(INFINITE);
        return magnitudes.reinterpretAsFloats().mul(SCALED).reinterpretAsInts().or(signs);
    }
}

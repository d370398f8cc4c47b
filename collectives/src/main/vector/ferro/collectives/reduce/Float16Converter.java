package ferro.collectives.reduce;

import ferro.HalfFloats;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Conversions between vectors of f16 and of f32; {@link HalfFloats} names the source of the format.
 *
 * <p>A vector of elements is read as a vector of 32-bit pairs. The upper and lower elements of the pairs become two
 * vectors of f32. The bits of sign, exponent and fraction are moved to their positions in f32. Each number of f32 is
 * the element times 2^-112, because of the difference of the exponent biases. Subnormals are scaled by 2^-112 too,
 * because their fraction has the same bits in f32. Infinities and NaNs become finite numbers. No value moves across
 * lanes, all vectors have one shape, and no masks are used.
 */
final class Float16Converter {
    /** Factor that removes the scale 2^-112. */
    static final float UNSCALED = 0x1p112f;

    /** Number of additional fraction bits that f32 has, compared with f16. */
    private static final int EXTRA = 23 - 10;

    // these vectors are made once, because a loop that made them would have too many operations, see Loops
    private static final ShortVector MAGNITUDE = ShortVector.broadcast(ShortVector.SPECIES_PREFERRED, Short.MAX_VALUE);
    private static final ShortVector INFINITY = ShortVector.broadcast(ShortVector.SPECIES_PREFERRED, 0x7c00);
    private static final IntVector LOWER = ints(0xffff);
    private static final IntVector UPPER = ints(0xffff_0000);
    private static final IntVector BOTH_SIGNS = ints(0x8000_8000);
    /** Mask of the sign, exponent and fraction of f16 at their positions in f32. */
    private static final IntVector BITS = ints(0x8fff_e000);

    private static final IntVector ONE = ints(1);
    private static final IntVector JUST_BELOW_HALF = ints((1 << EXTRA - 1) - 1);

    private Float16Converter() {}

    private static IntVector ints(int bits) {
        return IntVector.broadcast(IntVector.SPECIES_PREFERRED, bits);
    }

    /** Returns elements without their signs, as integers. */
    static ShortVector magnitudes(ShortVector elements) {
        return elements.and(MAGNITUDE);
    }

    /** Returns whether any of the magnitudes is infinite or NaN. */
    static boolean holdSpecial(ShortVector magnitudes) {
        return magnitudes.compare(VectorOperators.GE, INFINITY).anyTrue();
    }

    /** Returns the upper elements of pairs, scaled. */
    static FloatVector upper(IntVector pairs) {
        return pairs.lanewise(VectorOperators.ASHR, Short.SIZE - EXTRA)
                .and(BITS)
                .reinterpretAsFloats();
    }

    /** Returns the lower elements of pairs, scaled. */
    static FloatVector lower(IntVector pairs) {
        return upper(pairs.lanewise(VectorOperators.LSHL, Short.SIZE));
    }

    /**
     * Rounds scaled numbers to elements, still at the bit positions of f32. The lower bits of the result have no
     * meaning.
     */
    static IntVector rounded(FloatVector scaled) {
        IntVector bits = scaled.reinterpretAsInts();
        // ties to even: if the dropped bits are exactly half of a unit, only an odd result is rounded up
        IntVector odd = bits.lanewise(VectorOperators.LSHR, EXTRA).and(ONE);
        return bits.or(odd).add(JUST_BELOW_HALF);
    }

    /**
     * Joins elements at the bit positions of f32 to pairs of f16. Numbers above the largest element, up to 2^17, become
     * infinite.
     */
    static ShortVector joined(IntVector upper, IntVector lower) {
        IntVector magnitudes = upper.lanewise(VectorOperators.LSHL, Short.SIZE - EXTRA)
                .lanewise(VectorOperators.BITWISE_BLEND, lower.lanewise(VectorOperators.LSHR, EXTRA), LOWER);
        IntVector signs = upper.and(UPPER).or(lower.lanewise(VectorOperators.LSHR, Short.SIZE));
        return magnitudes
                .reinterpretAsShorts()
                .min(INFINITY)
                .reinterpretAsInts()
                .or(signs.and(BOTH_SIGNS))
                .reinterpretAsShorts();
    }
}

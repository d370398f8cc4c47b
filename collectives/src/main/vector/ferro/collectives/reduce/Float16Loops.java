package ferro.collectives.reduce;

import ferro.HalfFloats;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops of f16 over the blocks of a kernel, a template that {@link Specialised} defines anew. {@link HalfFloats} names the
 * source of the format.
 *
 * <p>A vector of elements is read as one of 32-bit pairs, whose lower and upper elements become two vectors of f32; so a
 * block of f32 has first the lower elements of all pairs of a vector, then the upper ones. Nothing moves across lanes, all
 * vectors have one shape, and there are no masks: infinities and NaNs, which would need them, are found first.
 */
final class Float16Loops {
    private static final Specialised.Choice CHOICE = Specialised.choice(MethodHandles.lookup());
    private static final VectorOperators.Binary OP = CHOICE.op();
    private static final VectorOperators.Binary SCALING = CHOICE.scaling();
    private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SHORTS.length();
    private static final int PAIRS = FLOATS.length();
    private static final short MAGNITUDE = Short.MAX_VALUE;
    private static final short INFINITY = 0x7c00;

    /** Fraction bits that f32 has more than f16. */
    private static final int EXTRA = 23 - 10;
    /** Difference of the exponent biases, 127 - 15, where f32 has its exponent. */
    private static final int REBIAS = 127 - 15 << 23;

    private static final int SMALLEST_NORMAL = 127 - 14 << 23;
    /** Sign, exponent and fraction of f16 where f32 has them. */
    private static final int BITS = 0x8fff_e000;

    private static final int JUST_BELOW_HALF = (1 << EXTRA - 1) - 1;

    private Float16Loops() {}

    /** Returns whether an element of two blocks is infinite or NaN. */
    static boolean isSpecial(short[] left, short[] right) {
        ShortVector largest = ShortVector.zero(SHORTS);
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            largest = largest.max(ShortVector.fromArray(SHORTS, left, i).and(MAGNITUDE))
                    .max(ShortVector.fromArray(SHORTS, right, i).and(MAGNITUDE));
        }
        return largest.compare(VectorOperators.GE, INFINITY).anyTrue();
    }

    /** Combines blocks into one of f32. */
    static void combine(short[] left, short[] right, float[] results, float scaledBy) {
        FloatVector scale = FloatVector.broadcast(FLOATS, scaledBy);
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            IntVector a = ShortVector.fromArray(SHORTS, left, i).reinterpretAsInts();
            IntVector b = ShortVector.fromArray(SHORTS, right, i).reinterpretAsInts();
            combine(lower(a), lower(b), scale).intoArray(results, i);
            combine(widen(a), widen(b), scale).intoArray(results, i + PAIRS);
        }
    }

    /** Narrows a block. */
    static void narrow(float[] results, short[] elements) {
        for (int i = 0; i < Float16Kernel.BLOCK; i += LANES) {
            FloatVector lower = FloatVector.fromArray(FLOATS, results, i);
            FloatVector upper = FloatVector.fromArray(FLOATS, results, i + PAIRS);
            narrow(upper)
                    .lanewise(VectorOperators.LSHL, Short.SIZE)
                    .or(narrow(lower))
                    .reinterpretAsShorts()
                    .intoArray(elements, i);
        }
    }

    private static FloatVector combine(FloatVector a, FloatVector b, FloatVector scale) {
        FloatVector result = a.lanewise(OP, b);
        return SCALING == null ? result : result.lanewise(SCALING, scale);
    }

    private static FloatVector lower(IntVector pairs) {
        return widen(pairs.lanewise(VectorOperators.LSHL, Short.SIZE));
    }

    /** From the upper halves of ints; what the lower halves hold does not matter. */
    private static FloatVector widen(IntVector elements) {
        // 2^112 makes up for the difference of the biases, for subnormals too
        return elements.lanewise(VectorOperators.ASHR, Short.SIZE - EXTRA)
                .and(BITS)
                .reinterpretAsFloats()
                .mul(0x1p112f);
    }

    /** To the lower halves of ints; the upper ones are 0. */
    private static IntVector narrow(FloatVector values) {
        IntVector bits = values.reinterpretAsInts();
        IntVector magnitude = bits.and(Integer.MAX_VALUE);
        // to even: where what is dropped is exactly half of a unit, only an odd result is rounded up
        IntVector odd = magnitude.lanewise(VectorOperators.LSHR, EXTRA).and(1);
        // negative below the normal numbers
        IntVector normal = magnitude.or(odd).add(JUST_BELOW_HALF - REBIAS).lanewise(VectorOperators.ASHR, EXTRA);
        // the last bit of 0.5 is worth 2^-24, one unit of a subnormal; above the subnormals it is at most the normal
        // one
        IntVector subnormal = magnitude
                .min(SMALLEST_NORMAL)
                .reinterpretAsFloats()
                .add(0.5f)
                .reinterpretAsInts()
                .sub(Float.floatToRawIntBits(0.5f));
        return normal.max(subnormal)
                .min(INFINITY)
                .or(bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(1 << Short.SIZE - 1));
    }
}

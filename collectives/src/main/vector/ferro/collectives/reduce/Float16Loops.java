package ferro.collectives.reduce;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Converts f16 by vectors, as {@link HalfFloats} does one by one; that class names the sources.
 *
 * <p>A vector of elements is read as one of 32-bit pairs: first the lower elements of all pairs go to a block, then the upper
 * ones. So nothing moves across lanes, and all vectors have one shape.
 */
final class Float16Loops {
    private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
    private static final int LANES = SHORTS.length();
    private static final int PAIRS = INTS.length();
    private static final int UPPER = 0xffff_0000;
    private static final int SIGN = Integer.MIN_VALUE;
    private static final int MAGNITUDE = Integer.MAX_VALUE;
    private static final int INFINITY = 0x7f80_0000;
    private static final int FRACTION = HalfFloats.EXTRA_FRACTION;
    private static final int JUST_BELOW_HALF = (1 << FRACTION - 1) - 1;

    private Float16Loops() {}

    static void widen(short[] elements, float[] block, int count) {
        for (int i = 0; i < count; i += LANES) {
            IntVector pairs = ShortVector.fromArray(SHORTS, elements, i).reinterpretAsInts();
            widen(pairs.lanewise(VectorOperators.LSHL, Short.SIZE)).intoArray(block, i);
            widen(pairs.and(UPPER)).intoArray(block, i + PAIRS);
        }
    }

    static void narrowLower(float[] block, int[] lower, int count) {
        for (int i = 0; i < count; i += LANES) {
            narrow(FloatVector.fromArray(FLOATS, block, i))
                    .lanewise(VectorOperators.LSHR, Short.SIZE)
                    .intoArray(lower, i / 2);
        }
    }

    static void narrowUpper(float[] block, int[] lower, int count, short[] elements) {
        for (int i = 0; i < count; i += LANES) {
            narrow(FloatVector.fromArray(FLOATS, block, i + PAIRS))
                    .or(IntVector.fromArray(INTS, lower, i / 2))
                    .reinterpretAsShorts()
                    .intoArray(elements, i);
        }
    }

    /** From the upper halves of ints. */
    private static FloatVector widen(IntVector elements) {
        // exponent and fraction where f32 has them, then 2^112 for the difference of the biases, 127 - 15
        IntVector magnitude = elements.and(MAGNITUDE).lanewise(VectorOperators.LSHR, Short.SIZE - FRACTION);
        IntVector bits = magnitude.reinterpretAsFloats().mul(0x1p112f).reinterpretAsInts();
        int infinity = HalfFloats.FLOAT16_INFINITY << FRACTION;
        bits = bits.blend(bits.or(INFINITY), magnitude.compare(VectorOperators.GE, infinity));
        return bits.or(elements.and(SIGN)).reinterpretAsFloats();
    }

    /** To the upper halves of ints; the lower ones are 0. */
    private static IntVector narrow(FloatVector values) {
        IntVector bits = values.reinterpretAsInts();
        IntVector magnitude = bits.and(MAGNITUDE);
        IntVector rebiased = magnitude.sub(HalfFloats.REBIAS);
        IntVector odd = rebiased.lanewise(VectorOperators.LSHR, FRACTION).and(1);
        IntVector normal = rebiased.add(JUST_BELOW_HALF).add(odd).lanewise(VectorOperators.LSHR, FRACTION);
        int half = Float.floatToRawIntBits(0.5f);
        IntVector found = values.abs().add(0.5f).reinterpretAsInts().sub(half);
        found = found.blend(normal, magnitude.compare(VectorOperators.GE, HalfFloats.SMALLEST_NORMAL));
        found = found.blend(HalfFloats.FLOAT16_INFINITY, magnitude.compare(VectorOperators.GE, HalfFloats.OVERFLOW));
        found = found.lanewise(VectorOperators.LSHL, Short.SIZE).or(bits.and(SIGN));
        return found.blend(HalfFloats.FLOAT16_NAN << Short.SIZE, magnitude.compare(VectorOperators.GT, INFINITY));
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HalfFloats;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loop for f16 and bf16. This class is a template like {@link ElementLoops}. In {@link ElementLoops} the loop for
 * bf16 was three to seven times as slow on JDK 25.
 *
 * <p>A vector of elements is read as a vector of 32-bit pairs. The upper and the lower elements of all pairs become two
 * vectors of f32. The two vectors of f32 are combined, rounded and joined again. No value moves across lanes, all
 * vectors have one shape, and no masks are used. {@link HalfFloats} names the source of the formats.
 *
 * <p>A NaN that is rounded to bf16 remains a NaN, because the lower bits of the NaN are the lower bits of an operand,
 * which are 0. Therefore a run has NaNs if the largest magnitude is above the bits of infinity, as in
 * {@link ElementLoops}.
 *
 * <p>Sums, minima and maxima of the scaled numbers of {@link Float16Converter} are exact if they are subnormal in f32, so
 * the scale does not change their rounding. A result is converted back by dropping 13 bits, rounded to nearest, ties to
 * even, for subnormal and normal numbers. An average has the same bits as without the scale. The reason is that a
 * quotient by fewer than 2^13 ranks is a tie of f16, or at least 2^-14 of a unit away from a tie. A distance of 2^-14
 * is larger than the rounding error of f32. Scaled products would have other bits ({@link Float16Loops}). The scale
 * turns infinities and NaNs into finite numbers. Therefore the loop stops at an infinity or a NaN of f16, and a plain
 * kernel does the rest.
 */
final class HalfLoops {
    private static final Loops.LoopConstants CHOICE = Loops.LoopConstants.of(MethodHandles.lookup());
    private static final VectorOperators.Binary OP = CHOICE.op();
    private static final VectorOperators.Binary SCALING = CHOICE.scaling();
    private static final boolean COPIES = CHOICE.multiplies() == PreMulOperands.COPY;
    private static final boolean BOTH = CHOICE.both();
    private static final boolean FIRST_DIRECT = CHOICE.firstDirect();
    private static final boolean SECOND_DIRECT = CHOICE.secondDirect();
    private static final boolean FLOAT16 = CHOICE.type() == DataType.FLOAT16;
    private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final short MAGNITUDE = Short.MAX_VALUE;
    /** Bits of the infinity of bf16. */
    private static final short INFINITY = 0x7f80;

    private static final int UPPER = 0xffff_0000;
    private static final int JUST_BELOW_HALF = 0x7fff;

    private HalfLoops() {}

    static boolean run(Loops.Operands operands) {
        Object first = operands.first;
        Object second = operands.second;
        short[] into = FIRST_DIRECT ? null : (short[]) first;
        short[] source = SECOND_DIRECT ? null : (short[]) second;
        int at = FIRST_DIRECT ? 0 : Math.toIntExact(operands.firstAt);
        int from = SECOND_DIRECT ? 0 : Math.toIntExact(operands.secondAt);
        long firstAt = operands.firstAt;
        long secondAt = operands.secondAt;
        int count = operands.count;
        FloatVector scale = FloatVector.broadcast(FloatVector.SPECIES_PREFERRED, (float) operands.scale);
        ShortVector largest = ShortVector.zero(SPECIES);
        for (int i = 0; i < count; i += LANES) {
            long step = (long) i * Short.BYTES;
            ShortVector left = FIRST_DIRECT
                    ? (ShortVector) DirectVectorAccess.load(SPECIES, first, firstAt + step)
                    : ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector right = SECOND_DIRECT
                    ? (ShortVector) DirectVectorAccess.load(SPECIES, second, secondAt + step)
                    : ShortVector.fromArray(SPECIES, source, from + i);
            if (FLOAT16 && isSpecial(left, right)) {
                operands.count = i;
                return true;
            }
            ShortVector result = combine(left, right, scale);
            if (!FLOAT16) {
                largest = largest.max(result.and(MAGNITUDE));
            }
            if (FIRST_DIRECT) {
                DirectVectorAccess.store(result, first, firstAt + step);
            } else {
                result.intoArray(into, at + i);
            }
            if (BOTH && SECOND_DIRECT) {
                DirectVectorAccess.store(result, second, secondAt + step);
            } else if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return largest.compare(VectorOperators.GT, INFINITY).anyTrue();
    }

    /** Returns whether an element of f16 is infinite or NaN. */
    private static boolean isSpecial(ShortVector left, ShortVector right) {
        return Float16Converter.holdSpecial(Float16Converter.magnitudes(left).max(Float16Converter.magnitudes(right)));
    }

    private static ShortVector combine(ShortVector left, ShortVector right, FloatVector scale) {
        IntVector a = left.reinterpretAsInts();
        IntVector b = right.reinterpretAsInts();
        if (FLOAT16) {
            FloatVector upper = combine(Float16Converter.upper(a), Float16Converter.upper(b), scale);
            FloatVector lower = combine(Float16Converter.lower(a), Float16Converter.lower(b), scale);
            return Float16Converter.joined(Float16Converter.rounded(upper), Float16Converter.rounded(lower));
        }
        FloatVector upper =
                combine(a.and(UPPER).reinterpretAsFloats(), b.and(UPPER).reinterpretAsFloats(), scale);
        FloatVector lower = combine(
                a.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats(),
                b.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats(),
                scale);
        return rounded(upper)
                .and(UPPER)
                .or(rounded(lower).lanewise(VectorOperators.LSHR, Short.SIZE))
                .reinterpretAsShorts();
    }

    /** Rounds numbers to bf16 in the upper halves of ints. The bits of the lower halves have no meaning. */
    private static IntVector rounded(FloatVector numbers) {
        IntVector bits = numbers.reinterpretAsInts();
        // ties to even: if the lower half is exactly half of a unit, only an odd upper half is rounded up
        IntVector odd = bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(1);
        return bits.or(odd).add(JUST_BELOW_HALF);
    }

    private static FloatVector combine(FloatVector a, FloatVector b, FloatVector scale) {
        if (COPIES) {
            return b.mul(scale);
        }
        FloatVector result = a.lanewise(OP, b);
        return SCALING == null ? result : result.lanewise(SCALING, scale);
    }
}

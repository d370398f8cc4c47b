package ferro.collectives.reduce;

import ferro.HalfFloats;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops for bf16. The class is a template, from which {@link Specialised} defines a class for each type and op.
 *
 * <p>A vector of elements is read as a vector of 32-bit pairs. The upper and the lower elements of all pairs become two
 * vectors of f32. The two vectors of f32 are combined, rounded and joined again. No value moves across lanes, all
 * vectors have one shape, and there are no masks. {@link HalfFloats} names the source of the format.
 *
 * <p>A NaN remains a NaN when it is rounded, because it has the lower bits of an operand, which are 0. So a run has
 * NaNs if the largest magnitude is above that of infinity, as in {@link ElementLoops}.
 */
final class Bfloat16Loops {
    private static final Specialised.Choice CHOICE = Specialised.choice(MethodHandles.lookup());
    private static final VectorOperators.Binary OP = CHOICE.op();
    private static final VectorOperators.Binary SCALING = CHOICE.scaling();
    private static final boolean COPIES = CHOICE.multiplies() == PreMulTarget.COPY;
    private static final boolean BOTH = CHOICE.both();
    private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int UPPER = 0xffff_0000;
    private static final short MAGNITUDE = Short.MAX_VALUE;
    private static final short INFINITY = 0x7f80;
    private static final int JUST_BELOW_HALF = 0x7fff;

    private Bfloat16Loops() {}

    static boolean arrays(LoopOperands operands) {
        int at = Math.toIntExact(operands.firstAt);
        int from = Math.toIntExact(operands.secondAt);
        short[] into = (short[]) operands.first;
        short[] source = (short[]) operands.second;
        int count = operands.count;
        FloatVector scale = scale(operands);
        ShortVector largest = ShortVector.zero(SPECIES);
        for (int i = 0; i < count; i += LANES) {
            ShortVector left = ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector result = combine(left, ShortVector.fromArray(SPECIES, source, from + i), scale);
            largest = larger(largest, result);
            result.intoArray(into, at + i);
            if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return holdsNaN(largest);
    }

    static boolean arrayAndDirect(LoopOperands operands) {
        Object second = operands.second;
        long from = operands.secondAt;
        int at = Math.toIntExact(operands.firstAt);
        short[] into = (short[]) operands.first;
        int count = operands.count;
        FloatVector scale = scale(operands);
        ShortVector largest = ShortVector.zero(SPECIES);
        for (int i = 0; i < count; i += LANES) {
            long sourceAt = from + (long) i * Short.BYTES;
            ShortVector left = ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector result = combine(left, (ShortVector) Direct.load(SPECIES, second, sourceAt), scale);
            largest = larger(largest, result);
            result.intoArray(into, at + i);
            if (BOTH) {
                Direct.store(result, second, sourceAt);
            }
        }
        return holdsNaN(largest);
    }

    static boolean directAndArray(LoopOperands operands) {
        Object first = operands.first;
        long at = operands.firstAt;
        int from = Math.toIntExact(operands.secondAt);
        short[] source = (short[]) operands.second;
        int count = operands.count;
        FloatVector scale = scale(operands);
        ShortVector largest = ShortVector.zero(SPECIES);
        for (int i = 0; i < count; i += LANES) {
            long intoAt = at + (long) i * Short.BYTES;
            ShortVector left = (ShortVector) Direct.load(SPECIES, first, intoAt);
            ShortVector result = combine(left, ShortVector.fromArray(SPECIES, source, from + i), scale);
            largest = larger(largest, result);
            Direct.store(result, first, intoAt);
            if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return holdsNaN(largest);
    }

    static boolean directs(LoopOperands operands) {
        Object first = operands.first;
        Object second = operands.second;
        long at = operands.firstAt;
        long from = operands.secondAt;
        int count = operands.count;
        FloatVector scale = scale(operands);
        ShortVector largest = ShortVector.zero(SPECIES);
        for (int i = 0; i < count; i += LANES) {
            long step = (long) i * Short.BYTES;
            ShortVector left = (ShortVector) Direct.load(SPECIES, first, at + step);
            ShortVector result = combine(left, (ShortVector) Direct.load(SPECIES, second, from + step), scale);
            largest = larger(largest, result);
            Direct.store(result, first, at + step);
            if (BOTH) {
                Direct.store(result, second, from + step);
            }
        }
        return holdsNaN(largest);
    }

    private static ShortVector combine(ShortVector left, ShortVector right, FloatVector scale) {
        IntVector a = left.reinterpretAsInts();
        IntVector b = right.reinterpretAsInts();
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

    private static FloatVector combine(FloatVector a, FloatVector b, FloatVector scale) {
        if (COPIES) {
            return b.mul(scale);
        }
        FloatVector result = a.lanewise(OP, b);
        return SCALING == null ? result : result.lanewise(SCALING, scale);
    }

    /** Rounds numbers to elements in the upper halves of ints. The bits of the lower halves have no meaning. */
    private static IntVector rounded(FloatVector numbers) {
        IntVector bits = numbers.reinterpretAsInts();
        // ties to even: if the lower half is exactly half of a unit, only an odd upper half is rounded up
        IntVector odd = bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(1);
        return bits.or(odd).add(JUST_BELOW_HALF);
    }

    private static FloatVector scale(LoopOperands operands) {
        return FloatVector.broadcast(FloatVector.SPECIES_PREFERRED, (float) operands.scale);
    }

    private static ShortVector larger(ShortVector largest, ShortVector result) {
        return largest.max(result.and(MAGNITUDE));
    }

    private static boolean holdsNaN(ShortVector largest) {
        return largest.compare(VectorOperators.GT, INFINITY).anyTrue();
    }
}

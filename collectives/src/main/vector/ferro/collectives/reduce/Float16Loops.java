package ferro.collectives.reduce;

import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops for f16 over numbers that {@link Float16Pairs} has scaled. The class is a template, from which
 * {@link Specialised} defines a class for each type and op.
 *
 * <p>Sums, minima and maxima of such numbers are exact if they are subnormal in f32, so the scale does not change their
 * rounding. A result is converted back by dropping 13 bits, rounded to nearest, ties to even, for subnormal and normal
 * numbers. An average has the same bits too: a quotient by fewer than 2^13 ranks is a tie of f16, or at least 2^-14 of
 * a unit away from a tie. That distance is larger than the rounding error of f32. Products would have other bits: see
 * {@link Float16Products}.
 *
 * <p>The scale turns infinities and NaNs into finite numbers. So a loop stops at an infinity or a NaN, and a plain
 * kernel does the rest.
 */
final class Float16Loops {
    private static final Specialised.Choice CHOICE = Specialised.choice(MethodHandles.lookup());
    private static final VectorOperators.Binary OP = CHOICE.op();
    private static final VectorOperators.Binary SCALING = CHOICE.scaling();
    private static final boolean BOTH = CHOICE.both();
    private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();

    private Float16Loops() {}

    static boolean arrays(LoopOperands operands) {
        int at = Math.toIntExact(operands.firstAt);
        int from = Math.toIntExact(operands.secondAt);
        short[] into = (short[]) operands.first;
        short[] source = (short[]) operands.second;
        int count = operands.count;
        FloatVector scale = scale(operands);
        for (int i = 0; i < count; i += LANES) {
            ShortVector left = ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector right = ShortVector.fromArray(SPECIES, source, from + i);
            if (isSpecial(left, right)) {
                operands.count = i;
                return true;
            }
            ShortVector result = combine(left, right, scale);
            result.intoArray(into, at + i);
            if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return false;
    }

    static boolean arrayAndDirect(LoopOperands operands) {
        Object second = operands.second;
        long from = operands.secondAt;
        int at = Math.toIntExact(operands.firstAt);
        short[] into = (short[]) operands.first;
        int count = operands.count;
        FloatVector scale = scale(operands);
        for (int i = 0; i < count; i += LANES) {
            long sourceAt = from + (long) i * Short.BYTES;
            ShortVector left = ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector right = (ShortVector) Direct.load(SPECIES, second, sourceAt);
            if (isSpecial(left, right)) {
                operands.count = i;
                return true;
            }
            ShortVector result = combine(left, right, scale);
            result.intoArray(into, at + i);
            if (BOTH) {
                Direct.store(result, second, sourceAt);
            }
        }
        return false;
    }

    static boolean directAndArray(LoopOperands operands) {
        Object first = operands.first;
        long at = operands.firstAt;
        int from = Math.toIntExact(operands.secondAt);
        short[] source = (short[]) operands.second;
        int count = operands.count;
        FloatVector scale = scale(operands);
        for (int i = 0; i < count; i += LANES) {
            long intoAt = at + (long) i * Short.BYTES;
            ShortVector left = (ShortVector) Direct.load(SPECIES, first, intoAt);
            ShortVector right = ShortVector.fromArray(SPECIES, source, from + i);
            if (isSpecial(left, right)) {
                operands.count = i;
                return true;
            }
            ShortVector result = combine(left, right, scale);
            Direct.store(result, first, intoAt);
            if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return false;
    }

    static boolean directs(LoopOperands operands) {
        Object first = operands.first;
        Object second = operands.second;
        long at = operands.firstAt;
        long from = operands.secondAt;
        int count = operands.count;
        FloatVector scale = scale(operands);
        for (int i = 0; i < count; i += LANES) {
            long step = (long) i * Short.BYTES;
            ShortVector left = (ShortVector) Direct.load(SPECIES, first, at + step);
            ShortVector right = (ShortVector) Direct.load(SPECIES, second, from + step);
            if (isSpecial(left, right)) {
                operands.count = i;
                return true;
            }
            ShortVector result = combine(left, right, scale);
            Direct.store(result, first, at + step);
            if (BOTH) {
                Direct.store(result, second, from + step);
            }
        }
        return false;
    }

    /** Returns whether an element is infinite or NaN. */
    private static boolean isSpecial(ShortVector left, ShortVector right) {
        return Float16Pairs.holdSpecial(Float16Pairs.magnitudes(left).max(Float16Pairs.magnitudes(right)));
    }

    private static ShortVector combine(ShortVector left, ShortVector right, FloatVector scale) {
        IntVector a = left.reinterpretAsInts();
        IntVector b = right.reinterpretAsInts();
        FloatVector upper = combine(Float16Pairs.upper(a), Float16Pairs.upper(b), scale);
        FloatVector lower = combine(Float16Pairs.lower(a), Float16Pairs.lower(b), scale);
        return Float16Pairs.joined(Float16Pairs.rounded(upper), Float16Pairs.rounded(lower));
    }

    private static FloatVector combine(FloatVector a, FloatVector b, FloatVector scale) {
        FloatVector result = a.lanewise(OP, b);
        return SCALING == null ? result : result.lanewise(SCALING, scale);
    }

    private static FloatVector scale(LoopOperands operands) {
        return FloatVector.broadcast(FloatVector.SPECIES_PREFERRED, (float) operands.scale);
    }
}

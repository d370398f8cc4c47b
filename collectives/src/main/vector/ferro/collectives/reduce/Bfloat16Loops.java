package ferro.collectives.reduce;

import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Loops of bf16, a template that {@link Specialised} defines anew.
 *
 * <p>A vector of them is read as one of 32-bit pairs. The upper and the lower elements of all pairs become two vectors of
 * f32, which are combined, rounded and joined again: nothing moves across lanes, and all vectors have one shape. The
 * rounding is that of {@link HalfFloats}, which names the source.
 */
final class Bfloat16Loops {
    private static final Specialised.Choice CHOICE = Specialised.choice(MethodHandles.lookup());
    private static final VectorOperators.Binary OP = CHOICE.op();
    private static final boolean BOTH = CHOICE.both();
    private static final VectorSpecies<Short> SPECIES = ShortVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int UPPER = 0xffff_0000;
    private static final int INFINITY = 0x7f80_0000;
    private static final int JUST_BELOW_HALF = 0x7fff;
    private static final int QUIET_NAN = HalfFloats.BFLOAT16_NAN << Short.SIZE;

    private Bfloat16Loops() {}

    static boolean arrays(Object first, long firstAt, Object second, long secondAt, int count) {
        int at = Math.toIntExact(firstAt);
        int from = Math.toIntExact(secondAt);
        short[] into = (short[]) first;
        short[] source = (short[]) second;
        for (int i = 0; i < count; i += LANES) {
            ShortVector left = ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector result = combine(left, ShortVector.fromArray(SPECIES, source, from + i));
            result.intoArray(into, at + i);
            if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return false;
    }

    static boolean arrayAndDirect(Object first, long firstAt, Object second, long from, int count) {
        int at = Math.toIntExact(firstAt);
        short[] into = (short[]) first;
        for (int i = 0; i < count; i += LANES) {
            long sourceAt = from + (long) i * Short.BYTES;
            ShortVector left = ShortVector.fromArray(SPECIES, into, at + i);
            ShortVector result = combine(left, (ShortVector) Direct.load(SPECIES, second, sourceAt));
            result.intoArray(into, at + i);
            if (BOTH) {
                Direct.store(result, second, sourceAt);
            }
        }
        return false;
    }

    static boolean directAndArray(Object first, long at, Object second, long secondAt, int count) {
        int from = Math.toIntExact(secondAt);
        short[] source = (short[]) second;
        for (int i = 0; i < count; i += LANES) {
            long intoAt = at + (long) i * Short.BYTES;
            ShortVector left = (ShortVector) Direct.load(SPECIES, first, intoAt);
            ShortVector result = combine(left, ShortVector.fromArray(SPECIES, source, from + i));
            Direct.store(result, first, intoAt);
            if (BOTH) {
                result.intoArray(source, from + i);
            }
        }
        return false;
    }

    static boolean directs(Object first, long at, Object second, long from, int count) {
        for (int i = 0; i < count; i += LANES) {
            long step = (long) i * Short.BYTES;
            ShortVector left = (ShortVector) Direct.load(SPECIES, first, at + step);
            ShortVector result = combine(left, (ShortVector) Direct.load(SPECIES, second, from + step));
            Direct.store(result, first, at + step);
            if (BOTH) {
                Direct.store(result, second, from + step);
            }
        }
        return false;
    }

    private static ShortVector combine(ShortVector left, ShortVector right) {
        IntVector a = left.reinterpretAsInts();
        IntVector b = right.reinterpretAsInts();
        FloatVector upper =
                a.and(UPPER).reinterpretAsFloats().lanewise(OP, b.and(UPPER).reinterpretAsFloats());
        FloatVector lower = a.lanewise(VectorOperators.LSHL, Short.SIZE)
                .reinterpretAsFloats()
                .lanewise(OP, b.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats());
        IntVector pairs = narrow(upper.reinterpretAsInts())
                .and(UPPER)
                .or(narrow(lower.reinterpretAsInts()).lanewise(VectorOperators.LSHR, Short.SIZE));
        return pairs.reinterpretAsShorts();
    }

    /** To elements in the upper halves of ints; what the lower halves hold is no part of them. */
    private static IntVector narrow(IntVector bits) {
        IntVector odd = bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(1);
        IntVector rounded = bits.add(JUST_BELOW_HALF).add(odd);
        return rounded.blend(QUIET_NAN, bits.and(Integer.MAX_VALUE).compare(VectorOperators.GT, INFINITY));
    }
}

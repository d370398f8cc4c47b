package ferro.collectives.reduce;

import ferro.HalfFloats;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/** Conversions between vectors of bf16 and of f32; {@link HalfFloats} names the source of the format. */
final class Bfloat16Pairs {
    private static final int UPPER = 0xffff_0000;
    private static final int JUST_BELOW_HALF = 0x7fff;

    private Bfloat16Pairs() {}

    static FloatVector upper(IntVector pairs) {
        return pairs.and(UPPER).reinterpretAsFloats();
    }

    static FloatVector lower(IntVector pairs) {
        return pairs.lanewise(VectorOperators.LSHL, Short.SIZE).reinterpretAsFloats();
    }

    /** Rounds numbers to elements in the upper halves of ints. The bits of the lower halves have no meaning. */
    static IntVector rounded(FloatVector numbers) {
        IntVector bits = numbers.reinterpretAsInts();
        // ties to even: if the lower half is exactly half of a unit, only an odd upper half is rounded up
        IntVector odd = bits.lanewise(VectorOperators.LSHR, Short.SIZE).and(1);
        return bits.or(odd).add(JUST_BELOW_HALF);
    }

    static ShortVector joined(IntVector upper, IntVector lower) {
        return upper.and(UPPER)
                .or(lower.lanewise(VectorOperators.LSHR, Short.SIZE))
                .reinterpretAsShorts();
    }
}

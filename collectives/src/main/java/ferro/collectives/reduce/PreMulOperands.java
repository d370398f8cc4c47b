package ferro.collectives.reduce;

/**
 * The operands that a kernel still has to multiply by the factor of its op, in a sum of multiplied inputs. The kernel
 * multiplies the operands when the kernel reads them, rounds each product once to the type, and then adds.
 */
public enum PreMulOperands {
    /** Neither operand. */
    NEITHER,
    /** The first operand, into which the sum is written. */
    FIRST,
    /** The second operand, which is not changed. */
    SECOND,
    /** Both operands. */
    BOTH,
    /**
     * The second operand. The kernel writes the product of this operand without adding, so the kernel is a copy.
     */
    COPY;

    /**
     * Returns the kind of kernel that multiplies the given operands.
     *
     * @param first  whether the first operand is to be multiplied
     * @param second whether the second operand is to be multiplied
     * @return kind of kernel that adds
     */
    public static PreMulOperands of(boolean first, boolean second) {
        if (first) {
            return second ? BOTH : FIRST;
        }
        return second ? SECOND : NEITHER;
    }

    boolean first() {
        return this == FIRST || this == BOTH;
    }

    boolean second() {
        return this == SECOND || this == BOTH || this == COPY;
    }
}

package ferro.collectives.reduce;

/**
 * Which operands of a kernel are inputs of a sum of multiplied inputs that nobody has multiplied yet. The kernel multiplies
 * them by the factor of its op where it reads them, rounds each product once to the type, and adds then.
 */
public enum Multiplies {
    /** Neither operand. */
    NEITHER,
    /** The first operand, into which the sum is written. */
    FIRST,
    /** The second operand, which is not changed. */
    SECOND,
    /** Both operands. */
    BOTH,
    /** The second operand; what is written is its product alone, so that the kernel is a copy. */
    COPY;

    /**
     * Returns the kind of kernel that multiplies these operands.
     *
     * @param first  whether the first operand is to be multiplied
     * @param second whether the second operand is
     * @return one of the kinds that add
     */
    public static Multiplies of(boolean first, boolean second) {
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

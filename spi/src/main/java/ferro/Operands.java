package ferro;

/** What a collective reads and writes, and by what rules; the same questions for every kind of call. */
public sealed interface Operands permits Collective {
    /**
     * Returns a tensor of the call that every rank has, for its type.
     *
     * @return tensor; null for a barrier
     */
    default Tensor operand() {
        return in();
    }

    /**
     * Returns the operand, or the one tensor of a call that works in place.
     *
     * @return tensor; null for a barrier and where this rank has none
     */
    Tensor in();

    /**
     * Returns the result, or the one tensor of a call that works in place.
     *
     * @return tensor; null for a barrier and where this rank has none
     */
    Tensor out();

    /**
     * Returns how elements are combined.
     *
     * @return null where nothing is combined
     */
    default ReduceOp op() {
        return null;
    }

    /**
     * Returns the root.
     *
     * @return rank, or -1 for a call without root
     */
    default int root() {
        return -1;
    }

    /**
     * Returns whether the parts have lengths of their own (v-form).
     *
     * @return false where all parts are equal
     */
    default boolean hasCounts() {
        return inCounts() != null || outCounts() != null;
    }

    /**
     * Returns the lengths of the parts of the operand, one per rank.
     *
     * @return lengths; null where they are equal
     */
    default long[] inCounts() {
        return null;
    }

    /**
     * Returns the lengths of the parts of the result, one per rank.
     *
     * @return lengths, those of the operand but for an all-to-all; null where they are equal
     */
    default long[] outCounts() {
        return inCounts();
    }

    /**
     * Returns what a rank reads.
     *
     * @param rank who
     * @return operand, or null if this rank only receives
     */
    default Tensor reads(int rank) {
        return in();
    }

    /**
     * Returns what a rank writes.
     *
     * @param rank who
     * @return result, or null if this rank only gives
     */
    default Tensor writes(int rank) {
        return out();
    }
}

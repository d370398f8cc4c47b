package ferro;

/** The tensors that a collective reads and writes, and its op, root and counts; the same methods for every kind of call. */
public sealed interface Operands permits Collective {
    /**
     * Returns a tensor of the call that every rank has. Its type is the type of the call.
     *
     * @return tensor; null for a barrier
     */
    default Tensor operand() {
        return in();
    }

    /**
     * Returns the operand, or the one tensor of a call that works in place.
     *
     * @return tensor; null for a barrier, and if this rank has none
     */
    Tensor in();

    /**
     * Returns the result, or the one tensor of a call that works in place.
     *
     * @return tensor; null for a barrier, and if this rank has none
     */
    Tensor out();

    /**
     * Returns the reduction that combines elements.
     *
     * @return reduction, or null for a call that combines nothing
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
     * Returns whether the call gives the length of each part (v-form).
     *
     * @return false if all parts are equal
     */
    default boolean hasCounts() {
        return inCounts() != null || outCounts() != null;
    }

    /**
     * Returns the lengths of the parts of the operand, one per rank.
     *
     * @return lengths; null if they are equal
     */
    default long[] inCounts() {
        return null;
    }

    /**
     * Returns the lengths of the parts of the result, one per rank.
     *
     * @return lengths, which are those of the operand except for an all-to-all; null if they are equal
     */
    default long[] outCounts() {
        return inCounts();
    }

    /**
     * Returns the tensor that a rank reads.
     *
     * @param rank rank
     * @return operand, or null if this rank only receives
     */
    default Tensor reads(int rank) {
        return in();
    }

    /**
     * Returns the tensor that a rank writes.
     *
     * @param rank rank
     * @return result, or null if this rank only sends
     */
    default Tensor writes(int rank) {
        return out();
    }
}

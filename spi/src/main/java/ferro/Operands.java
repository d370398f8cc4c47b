package ferro;

/**
 * The tensors that a collective reads and writes, and its op, root and counts. Every kind of call has the same methods.
 */
public sealed interface Operands permits Collective {
    /**
     * Returns a tensor of the call that every rank has. The element type of this tensor is the type of the call.
     *
     * @return tensor; null for a barrier
     */
    default Tensor operand() {
        return in();
    }

    /**
     * Returns the operand. A call that has only one tensor returns that tensor.
     *
     * @return tensor; null for a barrier, and on a rank that has no such tensor
     */
    Tensor in();

    /**
     * Returns the result tensor. A call that has only one tensor returns that tensor.
     *
     * @return tensor; null for a barrier, and on a rank that has no such tensor
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
     * @return lengths; null if all are equal
     */
    default long[] inCounts() {
        return null;
    }

    /**
     * Returns the lengths of the parts of the result, one per rank.
     *
     * @return lengths; null if all are equal. Only the result of an all-to-all may have other lengths than the operand,
     *     see {@link #inCounts}
     */
    default long[] outCounts() {
        return inCounts();
    }

    /**
     * Returns the tensor of the call that a rank reads.
     *
     * @param rank rank
     * @return operand, or null if the rank only receives
     */
    default Tensor reads(int rank) {
        return in();
    }

    /**
     * Returns the tensor of the call that a rank writes.
     *
     * @param rank rank
     * @return result, or null if the rank only sends
     */
    default Tensor writes(int rank) {
        return out();
    }
}

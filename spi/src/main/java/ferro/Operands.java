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
     * @return tensor; null for a barrier, and in a call that was made without it, see {@link Collective#gather(Tensor,
     *     int)} and {@link Collective#scatter(Tensor, int)}
     */
    Tensor in();

    /**
     * Returns the result tensor. A call that has only one tensor returns that tensor.
     *
     * @return tensor; null for a barrier, and in a call that was made without it, see {@link Collective#gather(Tensor,
     *     int)} and {@link Collective#scatter(Tensor, int)}
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
        return inCounts().length > 0 || outCounts().length > 0;
    }

    /**
     * Returns the lengths of the parts of the operand, one per rank.
     *
     * @return lengths; empty if all are equal. The array belongs to the call and must not be changed
     */
    default long[] inCounts() {
        return CallChecks.EQUAL_PARTS;
    }

    /**
     * Returns the lengths of the parts of the result, one per rank.
     *
     * @return lengths; empty if all are equal. Only the result of an all-to-all may have other lengths than the
     *     operand, see {@link #inCounts}. The array belongs to the call and must not be changed
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

package ferro;

/**
 * The description of one collective operation, with tensors, op, root and counts. Each static method of this interface
 * makes a call of one form. Other ranks receive only the fingerprint of a call, which consists of kind, counts, type,
 * op name, root and label. The {@code Collective} object itself is not sent.
 *
 * <p>The static methods refuse null with a NullPointerException that names the argument. The static methods check
 * nothing else. {@link #check} checks shapes, counts, root and memory when the call starts. A call refers to its
 * tensors and counts, and makes no copies of them. Any thread may use a call.
 *
 * <p>Counts are the lengths of the parts in elements, one per rank in rank order. A count may be 0. An empty array of
 * counts means parts of equal length. Sends and receives are not collectives, because they are matched by peer and tag,
 * and have no sequence number.
 */
public sealed interface Collective permits CollectiveCall {
    /**
     * Returns an all-reduce in place. The all-reduce combines the tensors of all ranks, and writes the result into the
     * tensor of every rank.
     *
     * @param data operand and result
     * @param op   reduction
     * @return call
     */
    static Collective allReduce(Tensor data, ReduceOp op) {
        return CollectiveCall.inPlace(CollectiveKind.ALL_REDUCE, data, op, CollectiveCall.NO_ROOT);
    }

    /**
     * Returns an all-reduce: combines the operands of all ranks on every rank.
     *
     * @param in  operand
     * @param out result, same type and length; may be {@code in}
     * @param op  reduction
     * @return call
     */
    static Collective allReduce(Tensor in, Tensor out, ReduceOp op) {
        return CollectiveCall.of(CollectiveKind.ALL_REDUCE, in, out, op);
    }

    /**
     * Returns a broadcast: copies the data of the root to every rank.
     *
     * @param data read on the root, written on the other ranks
     * @param root rank that has the data
     * @return call
     */
    static Collective broadcast(Tensor data, int root) {
        return CollectiveCall.of(CollectiveKind.BROADCAST, data, data, null, root);
    }

    /**
     * Returns a reduce in place: combines the tensors of all ranks, and writes the result into the tensor of the root.
     * The tensors of the other ranks stay unchanged.
     *
     * @param data operand, and on the root the result
     * @param op   reduction
     * @param root rank that receives the result
     * @return call
     */
    static Collective reduce(Tensor data, ReduceOp op, int root) {
        return CollectiveCall.inPlace(CollectiveKind.REDUCE, data, op, root);
    }

    /**
     * Returns a reduce: combines the operands of all ranks on the root. A rank other than the root may also use {@link
     * #reduce(Tensor, ReduceOp, int)}, which needs no result tensor.
     *
     * @param in   operand
     * @param out  result on the root, same type and length; may be {@code in}; ignored on the other ranks
     * @param op   reduction
     * @param root rank that receives the result
     * @return call
     */
    static Collective reduce(Tensor in, Tensor out, ReduceOp op, int root) {
        CallChecks.given(CollectiveKind.REDUCE, in, out);
        return CollectiveCall.of(CollectiveKind.REDUCE, in, out, op, root);
    }

    /**
     * Returns an all-gather of equal parts: joins the parts of all ranks on every rank.
     *
     * @param in  own part
     * @param out all parts in rank order
     * @return call
     */
    static Collective allGather(Tensor in, Tensor out) {
        return allGather(in, out, CallChecks.EQUAL_PARTS);
    }

    /**
     * Returns an all-gather: joins the parts of all ranks on every rank.
     *
     * @param in     own part
     * @param out    all parts in rank order
     * @param counts length of each part, the same on all ranks; empty if all are equal
     * @return call
     */
    static Collective allGather(Tensor in, Tensor out, long[] counts) {
        return CollectiveCall.inParts(CollectiveKind.ALL_GATHER, in, out, null, CollectiveCall.NO_ROOT, counts);
    }

    /**
     * Returns a reduce-scatter of equal parts: combines the operands of all ranks, and gives each rank its part of the
     * result.
     *
     * @param in  all parts
     * @param out part of the result for this rank
     * @param op  reduction
     * @return call
     */
    static Collective reduceScatter(Tensor in, Tensor out, ReduceOp op) {
        return reduceScatter(in, out, op, CallChecks.EQUAL_PARTS);
    }

    /**
     * Returns a reduce-scatter: combines the operands of all ranks, and gives each rank its part of the result.
     *
     * @param in     all parts
     * @param out    part of the result for this rank
     * @param op     reduction
     * @param counts length of each part, the same on all ranks; empty if all are equal
     * @return call
     */
    static Collective reduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) {
        return CollectiveCall.inParts(CollectiveKind.REDUCE_SCATTER, in, out, op, CollectiveCall.NO_ROOT, counts);
    }

    /**
     * Returns a gather of equal parts for a rank other than the root: the part of this rank goes to the root. On the
     * root, {@link #check} refuses this call, because the root needs a tensor for all parts.
     *
     * @param in   own part
     * @param root rank that receives all parts
     * @return call
     */
    static Collective gather(Tensor in, int root) {
        return gather(in, root, CallChecks.EQUAL_PARTS);
    }

    /**
     * Returns a gather for a rank other than the root: the part of this rank goes to the root. On the root, {@link
     * #check} refuses this call, because the root needs a tensor for all parts.
     *
     * @param in     own part
     * @param root   rank that receives all parts
     * @param counts length of each part, the same on all ranks; empty if all are equal
     * @return call
     */
    static Collective gather(Tensor in, int root, long[] counts) {
        return CollectiveCall.inParts(CollectiveKind.GATHER, in, null, null, root, counts);
    }

    /**
     * Returns a gather of equal parts: joins the parts of all ranks on the root.
     *
     * @param in   own part
     * @param out  all parts in rank order; ignored on ranks other than the root
     * @param root rank that receives all parts
     * @return call
     */
    static Collective gather(Tensor in, Tensor out, int root) {
        return gather(in, out, root, CallChecks.EQUAL_PARTS);
    }

    /**
     * Returns a gather: joins the parts of all ranks on the root.
     *
     * @param in     own part
     * @param out    all parts in rank order; ignored on ranks other than the root
     * @param root   rank that receives all parts
     * @param counts length of each part, the same on all ranks; empty if all are equal
     * @return call
     */
    static Collective gather(Tensor in, Tensor out, int root, long[] counts) {
        CallChecks.given(CollectiveKind.GATHER, in, out);
        return CollectiveCall.inParts(CollectiveKind.GATHER, in, out, null, root, counts);
    }

    /**
     * Returns a scatter of equal parts for a rank other than the root: this rank receives its part of the root's data.
     * On the root, {@link #check} refuses this call, because the root needs the tensor of all parts.
     *
     * @param out  own part
     * @param root rank that has the data
     * @return call
     */
    static Collective scatter(Tensor out, int root) {
        return scatter(out, root, CallChecks.EQUAL_PARTS);
    }

    /**
     * Returns a scatter for a rank other than the root: this rank receives its part of the root's data. On the root,
     * {@link #check} refuses this call, because the root needs the tensor of all parts.
     *
     * @param out    own part
     * @param root   rank that has the data
     * @param counts length of each part, the same on all ranks; empty if all are equal
     * @return call
     */
    static Collective scatter(Tensor out, int root, long[] counts) {
        return CollectiveCall.inParts(CollectiveKind.SCATTER, null, out, null, root, counts);
    }

    /**
     * Returns a scatter of equal parts: gives each rank its part of the root's data.
     *
     * @param in   all parts in rank order; ignored on ranks other than the root
     * @param out  own part
     * @param root rank that has the data
     * @return call
     */
    static Collective scatter(Tensor in, Tensor out, int root) {
        return scatter(in, out, root, CallChecks.EQUAL_PARTS);
    }

    /**
     * Returns a scatter: gives each rank its part of the root's data.
     *
     * @param in     all parts in rank order; ignored on ranks other than the root
     * @param out    own part
     * @param root   rank that has the data
     * @param counts length of each part, the same on all ranks; empty if all are equal
     * @return call
     */
    static Collective scatter(Tensor in, Tensor out, int root, long[] counts) {
        CallChecks.given(CollectiveKind.SCATTER, in, out);
        return CollectiveCall.inParts(CollectiveKind.SCATTER, in, out, null, root, counts);
    }

    /**
     * Returns an all-to-all of equal parts: sends part j to rank j, and receives part i from rank i.
     *
     * @param in  parts to send, by destination rank
     * @param out parts received, by source rank
     * @return call
     */
    static Collective allToAll(Tensor in, Tensor out) {
        return CollectiveCall.of(CollectiveKind.ALL_TO_ALL, in, out, null);
    }

    /**
     * Returns an all-to-all: sends part j to rank j, and receives part i from rank i. A rank gives only the counts of
     * its own sends and receives, not the counts of other ranks.
     *
     * @param in         parts to send, by destination rank
     * @param out        parts received, by source rank
     * @param sendCounts length of each part by destination rank; empty if all are equal
     * @param recvCounts length of each part by source rank; empty if all are equal
     * @return call
     */
    static Collective allToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) {
        return new CollectiveCall(
                CollectiveKind.ALL_TO_ALL, in, out, null, CollectiveCall.NO_ROOT, sendCounts, recvCounts);
    }

    /**
     * Returns a scan in place: rank r gets the combined tensors of the ranks 0 to r, in rank order.
     *
     * @param data operand and result
     * @param op   reduction; not AVG
     * @return call
     */
    static Collective scan(Tensor data, ReduceOp op) {
        return CollectiveCall.inPlace(CollectiveKind.SCAN, data, op, CollectiveCall.NO_ROOT);
    }

    /**
     * Returns a scan: rank r gets the combined operands of the ranks 0 to r, in rank order.
     *
     * @param in  operand
     * @param out result, same type and length; may be {@code in}
     * @param op  reduction; not AVG
     * @return call
     */
    static Collective scan(Tensor in, Tensor out, ReduceOp op) {
        return CollectiveCall.of(CollectiveKind.SCAN, in, out, op);
    }

    /**
     * Returns an exclusive scan in place: rank r gets the combined tensors of the ranks 0 to r-1, in rank order. Rank 0
     * gets the identity of a built-in op, see {@link #exclusiveScan(Tensor, Tensor, ReduceOp)}.
     *
     * @param data operand and result
     * @param op   reduction; not AVG
     * @return call
     */
    static Collective exclusiveScan(Tensor data, ReduceOp op) {
        return CollectiveCall.inPlace(CollectiveKind.EXCLUSIVE_SCAN, data, op, CollectiveCall.NO_ROOT);
    }

    /**
     * Returns an exclusive scan: rank r gets the combined operands of the ranks 0 to r-1, in rank order.
     *
     * <p>No rank comes before rank 0. With a built-in op, rank 0 therefore gets the identity of the op: 0 for SUM, BOR,
     * BXOR and a sum of multiplied inputs, 1 for PRODUCT, and all bits set for BAND. The identity of MIN is the largest
     * value of the type (positive infinity for floats). The identity of MAX is the smallest value (negative infinity
     * for floats). With a user-defined op, the result tensor of rank 0 stays unchanged.
     *
     * @param in  operand
     * @param out result, same type and length; may be {@code in}
     * @param op  reduction; not AVG
     * @return call
     */
    static Collective exclusiveScan(Tensor in, Tensor out, ReduceOp op) {
        return CollectiveCall.of(CollectiveKind.EXCLUSIVE_SCAN, in, out, op);
    }

    /** {@return a barrier, which waits until every rank has made the call} */
    static Collective barrier() {
        return CollectiveCall.BARRIER;
    }

    /**
     * Checks shapes, counts, root and memory before any data moves.
     *
     * <p>The input and output of this rank must not overlap, except in place. An in-place allReduce, reduce or scan
     * uses the identical range as input and output. In in-place calls of other kinds, a rank's own part begins at the
     * offset of that part in the tensor of all parts. An overlap of two different buffers is detected only if the JVM
     * gives their addresses.
     *
     * @param rank      this rank
     * @param worldSize number of ranks
     * @throws IllegalArgumentException if a check fails; the message contains the value and the world size; {@link
     *     InvalidRankException} if the root is not a rank
     * @throws IllegalStateException    if the owner of a tensor's memory has freed the memory ({@link ForeignMemory})
     */
    void check(int rank, int worldSize);

    /** {@return the kind of the operation; messages contain the label of the kind} */
    CollectiveKind kind();

    /**
     * Returns the same call on other tensors. A decorator uses this method to replace the caller's memory by its own
     * memory.
     *
     * @param in  operand; null if {@link #in} of this call is null
     * @param out result; null if {@link #out} of this call is null; a call with one tensor uses {@code in}, or {@code
     *     out} if {@code in} is null
     * @return call of the same kind, op, root and counts
     */
    Collective on(Tensor in, Tensor out);

    /** {@return a tensor of the call that every rank has, with the element type of the call; null for a barrier} */
    Tensor operand();

    /**
     * {@return the operand, or the only tensor of the call; null for a barrier, and for a call without operand, see
     * {@link Collective#scatter(Tensor, int)}}
     */
    Tensor in();

    /**
     * {@return the result, or the only tensor of the call; null for a barrier, and for a call without result, see
     * {@link Collective#gather(Tensor, int)}}
     */
    Tensor out();

    /** {@return the reduction that combines elements; null for a call that combines nothing} */
    ReduceOp op();

    /** {@return the rank of the root; -1 for a call without root} */
    int root();

    /** {@return whether the call gives the length of each part (v-form); false if all parts are equal} */
    boolean hasCounts();

    /** {@return the lengths of the parts of the operand by rank, not to be changed; empty if all are equal} */
    long[] inCounts();

    /**
     * {@return the lengths of the parts of the result by rank, not to be changed; empty if all are equal. Only in an
     * all-to-all may these lengths differ from {@link #inCounts}}
     */
    long[] outCounts();

    /**
     * Returns the tensor of the call that a rank reads.
     *
     * @param rank rank of the group
     * @return operand, or null if the rank only receives
     */
    Tensor reads(int rank);

    /**
     * Returns the tensor of the call that a rank writes.
     *
     * @param rank rank of the group
     * @return result, or null if the rank only sends
     */
    Tensor writes(int rank);
}

package ferro.group;

import ferro.CallOptions;
import ferro.Collective;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;

/**
 * The forms of {@link ProcessGroup} for parts of unequal length, whose lengths are counts of elements. For each collective,
 * the blocking form comes before the asynchronous form.
 */
abstract class UnequalForms extends TensorForms {
    UnequalForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Joins parts of unequal length of all ranks, in rank order, on every rank.
     *
     * @param in     own part; may be the rank's own part of {@code out}, behind the parts of the ranks before it
     * @param out    all parts, with as many elements as the sum of all counts
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(Tensor in, Tensor out, long[] counts) {
        run(Collective.allGather(in, out, counts));
    }

    /**
     * Starts an all-gather of parts of unequal length, and does not wait for other ranks. Neither tensor may be used
     * until the work is done. The counts must not be changed until then.
     *
     * @param in     own part; may be the rank's own part of {@code out}, behind the parts of the ranks before it
     * @param out    all parts, with as many elements as the sum of all counts
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(Tensor in, Tensor out, long[] counts) {
        return submit(Collective.allGather(in, out, counts));
    }

    /**
     * Combines the tensors of all ranks, element by element, and leaves one part of the result on each rank; the
     * parts may have different lengths.
     *
     * @param in     operand, with as many elements as the sum of all counts
     * @param out    own part of the result; may be the rank's own part of {@code in}, behind the parts of the ranks
     *     before it
     * @param op     reduction; the same on every rank
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or the reduction is
     *     user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) {
        run(Collective.reduceScatter(in, out, op, counts));
    }

    /**
     * Starts a reduce-scatter of parts of unequal length, and does not wait for other ranks. Neither tensor may be
     * used until the work is done. The counts must not be changed until then.
     *
     * @param in     operand, with as many elements as the sum of all counts
     * @param out    own part of the result; may be the rank's own part of {@code in}, behind the parts of the ranks
     *     before it
     * @param op     reduction; the same on every rank
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or the reduction is
     *     user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(Tensor in, Tensor out, ReduceOp op, long[] counts) {
        return submit(Collective.reduceScatter(in, out, op, counts));
    }

    /**
     * Joins parts of unequal length of all ranks, in rank order, on the root.
     *
     * @param in     own part; on the root it may be the own part of {@code out}
     * @param out    all parts on the root; may be null on the other ranks, where it is ignored
     * @param root   rank that gets all parts
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @throws NullPointerException          if {@code in} or {@code counts} is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or {@code root} is no rank
     *     of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(Tensor in, Tensor out, int root, long[] counts) {
        run(out == null ? Collective.gather(in, root, counts) : Collective.gather(in, out, root, counts));
    }

    /**
     * Starts a gather of parts of unequal length, and does not wait for other ranks. Neither tensor may be used until
     * the work is done. The counts must not be changed until then.
     *
     * @param in     own part; on the root it may be the own part of {@code out}
     * @param out    all parts on the root; may be null on the other ranks, where it is ignored
     * @param root   rank that gets all parts
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @return handle
     * @throws NullPointerException          if {@code in} or {@code counts} is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or {@code root} is no rank
     *     of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(Tensor in, Tensor out, int root, long[] counts) {
        return submit(out == null ? Collective.gather(in, root, counts) : Collective.gather(in, out, root, counts));
    }

    /**
     * Sends parts of unequal length of the tensor of the root to the ranks.
     *
     * @param in     all parts on the root; may be null on the other ranks, where it is ignored
     * @param out    own part; on the root it may be the own part of {@code in}
     * @param root   rank that has all parts
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @throws NullPointerException          if {@code out} or {@code counts} is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or {@code root} is no rank
     *     of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(Tensor in, Tensor out, int root, long[] counts) {
        run(in == null ? Collective.scatter(out, root, counts) : Collective.scatter(in, out, root, counts));
    }

    /**
     * Starts a scatter of parts of unequal length, and does not wait for other ranks. Neither tensor may be used
     * until the work is done. The counts must not be changed until then.
     *
     * @param in     all parts on the root; may be null on the other ranks, where it is ignored
     * @param out    own part; on the root it may be the own part of {@code in}
     * @param root   rank that has all parts
     * @param counts part lengths in elements, one per rank, the same on all ranks; 0 is allowed; empty if all are equal
     * @return handle
     * @throws NullPointerException          if {@code out} or {@code counts} is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or {@code root} is no rank
     *     of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(Tensor in, Tensor out, int root, long[] counts) {
        return submit(in == null ? Collective.scatter(out, root, counts) : Collective.scatter(in, out, root, counts));
    }

    /**
     * Sends parts of unequal length to all ranks.
     *
     * @param in         parts by destination
     * @param out        parts by source; must not overlap {@code in}
     * @param sendCounts lengths in elements by destination, 0 included; empty if all are equal
     * @param recvCounts lengths in elements by source, each equal to the length that the source sends; empty if all are
     *     equal
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) {
        run(Collective.allToAll(in, out, sendCounts, recvCounts));
    }

    /**
     * Starts an all-to-all of parts of unequal length, and does not wait for other ranks. Neither tensor may be used
     * until the work is done. The counts must not be changed until then.
     *
     * @param in         parts by destination
     * @param out        parts by source; must not overlap {@code in}
     * @param sendCounts lengths in elements by destination, 0 included; empty if all are equal
     * @param recvCounts lengths in elements by source, each equal to the length that the source sends; empty if all are
     *     equal
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) {
        return submit(Collective.allToAll(in, out, sendCounts, recvCounts));
    }
}

package ferro.group;

import ferro.CallOptions;
import ferro.Collective;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;

/**
 * The tensor forms of {@link ProcessGroup}, collective by collective. For each collective, the blocking
 * forms come before the asynchronous form.
 */
abstract class TensorForms extends MessageForms {
    TensorForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Combines the tensors of all ranks, element by element, and writes the result in place into the tensor of every
     * rank. Every rank gets the same bits.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="tensors" :
     *
     * float[] weights = {3, 4, 5, 6};
     * HostTensor middle = HostTensor.of(DataType.FLOAT32, weights, 1, 2); // 4 and 5, not copied
     * group.broadcast(middle, 0);
     * group.allReduce(middle, ReduceOp.SUM);
     * }
     *
     * @param data operand and result; the same type and length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(Tensor data, ReduceOp op) {
        run(Collective.allReduce(data, op));
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits.
     *
     * @param data operand and result; the same type and length on every rank; must not be used until the work is done
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(Tensor data, ReduceOp op) {
        return submit(Collective.allReduce(data, op));
    }

    /**
     * Copies the tensor of the root to every rank.
     *
     * @param data read on the root, written on the other ranks; the same type and length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws InvalidRankException          if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(Tensor data, int root) {
        run(Collective.broadcast(data, root));
    }

    /**
     * Starts a broadcast, and does not wait for other ranks.
     *
     * @param data read on the root, written on the other ranks; the same type and length on every rank; must not be
     *     used until the work is done
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws InvalidRankException          if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(Tensor data, int root) {
        return submit(Collective.broadcast(data, root));
    }

    /**
     * Combines the tensors of all ranks, element by element, and writes the result in place into the tensor of the
     * root. The tensors of the other ranks stay unchanged.
     *
     * @param data operand, and on the root the result; the same type and length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(Tensor data, ReduceOp op, int root) {
        run(Collective.reduce(data, op, root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks.
     *
     * @param data operand, and on the root the result; the same type and length on every rank; must not be used until
     *     the work is done
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(Tensor data, ReduceOp op, int root) {
        return submit(Collective.reduce(data, op, root));
    }

    /**
     * Joins the tensors of all ranks, in rank order, on every rank.
     *
     * @param in  own part, {@code [n]}; may be the rank's own part of {@code out}
     * @param out all parts, {@code [worldSize * n]}; the part of rank r begins at element {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(Tensor in, Tensor out) {
        run(Collective.allGather(in, out));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks.
     *
     * @param in  own part, {@code [n]}; may be the rank's own part of {@code out}
     * @param out all parts, {@code [worldSize * n]}; neither tensor may be used until the work is done
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(Tensor in, Tensor out) {
        return submit(Collective.allGather(in, out));
    }

    /**
     * Combines the tensors of all ranks, element by element, and leaves part r of the result on rank r.
     *
     * <p>On host tensors, and without the setting {@code ferro.algorithm}, part r has the same bits as part r of an
     * {@link #allReduce} of the same tensors. Over NCCL the bits may differ.
     *
     * @param in  operand, {@code [worldSize * n]}
     * @param out own part of the result, {@code [n]}; may be the rank's own part of {@code in}
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the reduction is user-defined
     *     for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(Tensor in, Tensor out, ReduceOp op) {
        run(Collective.reduceScatter(in, out, op));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks.
     *
     * @param in  operand, {@code [worldSize * n]}
     * @param out own part of the result, {@code [n]}; may be the rank's own part of {@code in}; neither tensor may be
     *     used until the work is done
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the reduction is user-defined
     *     for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(Tensor in, Tensor out, ReduceOp op) {
        return submit(Collective.reduceScatter(in, out, op));
    }

    /**
     * Joins the tensors of all ranks, in rank order, on the root.
     *
     * @param in   own part, {@code [n]}; on the root it may be the own part of {@code out}
     * @param out  all parts on the root, {@code [worldSize * n]}; may be null on the other ranks, where it is ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or {@code root} is no rank of the
     *     group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(Tensor in, Tensor out, int root) {
        run(gatherOf(in, out, root));
    }

    /**
     * Starts a gather, and does not wait for other ranks.
     *
     * @param in   own part, {@code [n]}; on the root it may be the own part of {@code out}
     * @param out  all parts on the root, {@code [worldSize * n]}; may be null on the other ranks, where it is ignored;
     *     neither tensor may be used until the work is done
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or {@code root} is no rank of the
     *     group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(Tensor in, Tensor out, int root) {
        return submit(gatherOf(in, out, root));
    }

    /**
     * Sends part r of the tensor of the root to rank r.
     *
     * @param in   all parts on the root, {@code [worldSize * n]}; may be null on the other ranks, where it is ignored
     * @param out  own part, {@code [n]}; on the root it may be the own part of {@code in}
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or {@code root} is no rank of the
     *     group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(Tensor in, Tensor out, int root) {
        run(scatterOf(in, out, root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks.
     *
     * @param in   all parts on the root, {@code [worldSize * n]}; may be null on the other ranks, where it is ignored
     * @param out  own part, {@code [n]}; on the root it may be the own part of {@code in}; neither tensor may be used
     *     until the work is done
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or {@code root} is no rank of the
     *     group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(Tensor in, Tensor out, int root) {
        return submit(scatterOf(in, out, root));
    }

    /**
     * Sends part j of the tensor of each rank to rank j.
     *
     * @param in  parts by destination, {@code [worldSize * n]}
     * @param out parts by source, {@code [worldSize * n]}; must not overlap {@code in}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(Tensor in, Tensor out) {
        run(Collective.allToAll(in, out));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks.
     *
     * @param in  parts by destination, {@code [worldSize * n]}
     * @param out parts by source, {@code [worldSize * n]}; must not overlap {@code in}; neither tensor may be used
     *     until the work is done
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(Tensor in, Tensor out) {
        return submit(Collective.allToAll(in, out));
    }

    /**
     * Combines the tensors of the ranks 0 to r, in rank order, and writes the result in place into the tensor of rank r.
     *
     * @param data operand and result; the same type and length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scan(Tensor data, ReduceOp op) {
        run(Collective.scan(data, op));
    }

    /**
     * Starts a scan in place, and does not wait for other ranks.
     *
     * @param data operand and result; the same type and length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scanAsync(Tensor data, ReduceOp op) {
        return submit(Collective.scan(data, op));
    }

    /**
     * Combines the tensors of the ranks before r, in rank order, and writes the result in place into the tensor of rank r.
     * On rank 0 the result is the identity of a built-in op, such as 0 for SUM. A user-defined op leaves the tensor of
     * rank 0 unchanged.
     *
     * @param data operand and result; the same type and length on every rank
     * @param op   reduction; the same on every rank; not AVG
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void exclusiveScan(Tensor data, ReduceOp op) {
        run(Collective.exclusiveScan(data, op));
    }

    /**
     * Starts an exclusive scan in place, and does not wait for other ranks.
     *
     * @param data operand and result; the same type and length on every rank; must not be used until the
     *     work is done
     * @param op   reduction; the same on every rank; not AVG
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is AVG, or user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or the element type does not
     *     support the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work exclusiveScanAsync(Tensor data, ReduceOp op) {
        return submit(Collective.exclusiveScan(data, op));
    }

    /**
     * Blocks until every rank has called this barrier.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException  if the group fails or has failed
     */
    public final void barrier() {
        run(Collective.barrier());
    }

    /**
     * Starts a barrier, and does not wait for other ranks.
     *
     * @return handle; done when every rank has called this barrier
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException  if the group has failed; the handle throws later failures
     */
    public final Work barrierAsync() {
        return submit(Collective.barrier());
    }
}

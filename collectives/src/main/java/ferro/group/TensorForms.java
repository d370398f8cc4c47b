package ferro.group;

import ferro.CallOptions;
import ferro.Collective;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;

/**
 * The tensor forms of {@link ProcessGroup}, collective by collective, then messages. For each collective, the blocking
 * forms come before the asynchronous form.
 */
abstract class TensorForms extends ScanArrayForms {
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

    /**
     * Sends a message, and returns when {@code data} may be used again. Messages are not part of the order of
     * collectives. Messages of one tag from one rank to another arrive in the order in which they were sent.
     *
     * <p>A message above 64 KiB waits for its receive. A message of at most 64 KiB does not wait for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it:
     * <ul>
     *   <li>A receiver that waits in a call of this group buffers up to 16 MiB of messages from one sender that no
     *       receive has matched. Each message counts as its elements and 256 more bytes.
     *   <li>A receiver that is in no call of this group reads no messages. Messages that the receiver does not read
     *       stay in the buffers of the link. A link in shared memory has buffers of 8 to 256 KiB, and a link over TCP
     *       has the buffers of its sockets.
     * </ul>
     * A send that still waits at its deadline fails the group with TIMED_OUT.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="messages" :
     *
     * int next = (group.rank() + 1) % group.worldSize();
     * int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
     * Work sent = group.sendAsync(own, next, 0);
     * group.recv(received, previous, 0);
     * sent.await();
     * }
     *
     * @param data elements
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(Tensor data, int to, int tag) {
        sending(data, to, tag).await();
    }

    /**
     * Starts a send, and does not wait for the receiver.
     *
     * @param data elements; must not be used until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be used again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(Tensor data, int to, int tag) {
        return sending(data, to, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. If no message matches the
     * receive by its deadline, the receive fails with TIMED_OUT and the group continues.
     *
     * @param data receives the elements; its size must be exactly the size of the message
     * @param from rank that sends; may be this rank
     * @param tag  tag of the send
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final void recv(Tensor data, int from, int tag) {
        receiving(data, from, tag).await();
    }

    /**
     * Starts a receive, and does not wait for the sender.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends; may be this rank
     * @param tag  tag of the send
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work recvAsync(Tensor data, int from, int tag) {
        return receiving(data, from, tag);
    }
}

package ferro.group;

import ferro.Collective;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import java.time.Duration;

/** The tensor forms of {@link ProcessGroup}, blocking and asynchronous. Each makes a call and submits it. */
abstract class TensorForms extends ArrayForms {
    TensorForms(GroupEnd end, Duration timeout) {
        super(end, timeout);
    }

    /**
     * Combines the tensors of all ranks, element by element, into the tensor of every rank; in place.
     *
     * @param data operand and result; the same type and length on every rank
     * @param op   reduction
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(Tensor data, ReduceOp op) {
        run(allReduceOf(data, op));
    }

    /**
     * Starts an all-reduce in place.
     *
     * @param data operand and result; must not be used until the work is done
     * @param op   reduction
     * @return handle
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work allReduceAsync(Tensor data, ReduceOp op) {
        return submit(allReduceOf(data, op));
    }

    /**
     * Copies the root's tensor to every rank.
     *
     * @param data read on the root, written elsewhere; the same type and length on every rank
     * @param root owner
     * @throws InvalidRankException          if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void broadcast(Tensor data, int root) {
        run(new Collective.Broadcast(data, root));
    }

    /**
     * Starts a broadcast.
     *
     * @param data read on the root, written elsewhere
     * @param root owner
     * @return handle
     * @throws InvalidRankException          if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work broadcastAsync(Tensor data, int root) {
        return submit(new Collective.Broadcast(data, root));
    }

    /**
     * Combines the tensors of all ranks into the tensor of the root. The tensors of the other ranks stay unchanged.
     *
     * @param data operand, and on the root the result
     * @param op   reduction
     * @param root receiver
     * @throws InvalidRankException          if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(Tensor data, ReduceOp op, int root) {
        run(reduceOf(data, op, root));
    }

    /**
     * Starts a reduce.
     *
     * @param data operand, and on the root the result
     * @param op   reduction
     * @param root receiver
     * @return handle
     * @throws InvalidRankException          if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work reduceAsync(Tensor data, ReduceOp op, int root) {
        return submit(reduceOf(data, op, root));
    }

    /**
     * Joins the tensors of all ranks, in rank order, on every rank.
     *
     * @param in  own part, {@code [n]}; may be the rank's own part of {@code out}
     * @param out all parts, {@code [worldSize * n]}; rank r's begins at element {@code r * n}
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void allGather(Tensor in, Tensor out) {
        run(new Collective.AllGather(in, out, null));
    }

    /**
     * Joins unequal parts of all ranks on every rank.
     *
     * @param in     own part; may be the rank's own part of {@code out}, behind those of the ranks before it
     * @param out    all parts
     * @param counts part lengths, equal on all ranks, 0 included
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void allGather(Tensor in, Tensor out, long[] counts) {
        run(new Collective.AllGather(in, out, counts));
    }

    /**
     * Starts an all-gather.
     *
     * @param in  own part; may be the rank's own part of {@code out}
     * @param out all parts
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work allGatherAsync(Tensor in, Tensor out) {
        return submit(new Collective.AllGather(in, out, null));
    }

    /**
     * Combines the tensors of all ranks and leaves part r of the result on rank r.
     *
     * @param in  operand, {@code [worldSize * n]}
     * @param out own part of the result, {@code [n]}; may be the rank's own part of {@code in}
     * @param op  reduction
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(Tensor in, Tensor out, ReduceOp op) {
        run(new Collective.ReduceScatter(in, out, op, null));
    }

    /**
     * Starts a reduce-scatter.
     *
     * @param in  operand
     * @param out own part of the result; may be the rank's own part of {@code in}
     * @param op  reduction
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work reduceScatterAsync(Tensor in, Tensor out, ReduceOp op) {
        return submit(new Collective.ReduceScatter(in, out, op, null));
    }

    /**
     * Combines the tensors of all ranks and leaves one part of the result on each rank; the parts may have different
     * lengths.
     *
     * @param in     operand, all parts
     * @param out    own part of the result; may be the rank's own part of {@code in}, behind those of the ranks before it
     * @param op     reduction
     * @param counts part lengths, equal on all ranks, 0 included
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this, such as a reduction that the type lacks
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(Tensor in, Tensor out, ReduceOp op, long[] counts) {
        run(new Collective.ReduceScatter(in, out, op, counts));
    }

    /**
     * Joins the tensors of all ranks, in rank order, on the root.
     *
     * @param in   own part, {@code [n]}; on the root it may be the own part of {@code out}
     * @param out  all parts, {@code [worldSize * n]}; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the root is no rank
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void gather(Tensor in, Tensor out, int root) {
        run(new Collective.Gather(in, out, root, null));
    }

    /**
     * Starts a gather.
     *
     * @param in   own part; on the root it may be the own part of {@code out}
     * @param out  all parts; may be null off the root, where it is ignored
     * @param root receiver
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the root is no rank
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work gatherAsync(Tensor in, Tensor out, int root) {
        return submit(new Collective.Gather(in, out, root, null));
    }

    /**
     * Joins unequal parts of all ranks on the root.
     *
     * @param in     own part; on the root it may be the own part of {@code out}
     * @param out    all parts; may be null off the root, where it is ignored
     * @param root   receiver
     * @param counts part lengths, equal on all ranks, 0 included
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or the root is no rank
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void gather(Tensor in, Tensor out, int root, long[] counts) {
        run(new Collective.Gather(in, out, root, counts));
    }

    /**
     * Sends part r of the root's tensor to rank r.
     *
     * @param in   all parts, {@code [worldSize * n]}; may be null off the root, where it is ignored
     * @param out  own part, {@code [n]}; on the root it may be the own part of {@code in}
     * @param root owner
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the root is no rank
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void scatter(Tensor in, Tensor out, int root) {
        run(new Collective.Scatter(in, out, root, null));
    }

    /**
     * Starts a scatter.
     *
     * @param in   all parts; may be null off the root, where it is ignored
     * @param out  own part; on the root it may be the own part of {@code in}
     * @param root owner
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit, or the root is no rank
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work scatterAsync(Tensor in, Tensor out, int root) {
        return submit(new Collective.Scatter(in, out, root, null));
    }

    /**
     * Sends parts of unequal length of the root's tensor to the ranks.
     *
     * @param in     all parts; may be null off the root, where it is ignored
     * @param out    own part; on the root it may be the own part of {@code in}
     * @param root   owner
     * @param counts part lengths, equal on all ranks, 0 included
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit, or the root is no rank
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void scatter(Tensor in, Tensor out, int root, long[] counts) {
        run(new Collective.Scatter(in, out, root, counts));
    }

    /**
     * Sends part j of each rank's tensor to rank j.
     *
     * @param in  parts by destination, {@code [worldSize * n]}
     * @param out parts by source, {@code [worldSize * n]}; must not overlap {@code in}
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void allToAll(Tensor in, Tensor out) {
        run(new Collective.AllToAll(in, out, null, null));
    }

    /**
     * Starts an all-to-all.
     *
     * @param in  parts by destination
     * @param out parts by source; must not overlap {@code in}
     * @return handle
     * @throws IllegalArgumentException      if lengths, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work allToAllAsync(Tensor in, Tensor out) {
        return submit(new Collective.AllToAll(in, out, null, null));
    }

    /**
     * Sends parts of unequal length to all ranks.
     *
     * @param in         parts by destination
     * @param out        parts by source; must not overlap {@code in}
     * @param sendCounts lengths by destination, 0 included; null for equal lengths
     * @param recvCounts lengths by source, each equal to what that rank sends; null for equal lengths
     * @throws IllegalArgumentException      if lengths, counts, types or memory do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group fails
     */
    public final void allToAll(Tensor in, Tensor out, long[] sendCounts, long[] recvCounts) {
        run(new Collective.AllToAll(in, out, sendCounts, recvCounts));
    }

    /**
     * Returns when every rank has called it.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException  if the group fails
     */
    public final void barrier() {
        run(new Collective.Barrier());
    }

    /**
     * Starts a barrier.
     *
     * @return handle; done when every rank has called it
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException  if the group has failed before
     */
    public final Work barrierAsync() {
        return submit(new Collective.Barrier());
    }

    /**
     * Sends a message. Up to 64 KiB it returns at once; above, it returns when all of the message is on its way and
     * {@code data} may be reused.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException      if the tag is negative, or {@code to} no rank ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the message or the group fails
     */
    public final void send(Tensor data, int to, int tag) {
        sending(data, to, tag).await();
    }

    /**
     * Starts a send.
     *
     * @param data elements; must not be used until the work is done
     * @param to   rank
     * @param tag  0 and up
     * @return handle
     * @throws IllegalArgumentException      if the tag is negative, or {@code to} no rank ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work sendAsync(Tensor data, int to, int tag) {
        return sending(data, to, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before it.
     *
     * @param data receives the elements; must have exactly as many bytes as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException      if the tag is negative, or {@code from} no rank ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the message or the group fails
     */
    public final void recv(Tensor data, int from, int tag) {
        receiving(data, from, tag).await();
    }

    /**
     * Starts a receive.
     *
     * @param data receives the elements
     * @param from rank
     * @param tag  as sent
     * @return handle
     * @throws IllegalArgumentException      if the tag is negative, or {@code from} no rank ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do this
     * @throws ferro.FerroException          if the group has failed before
     */
    public final Work recvAsync(Tensor data, int from, int tag) {
        return receiving(data, from, tag);
    }
}

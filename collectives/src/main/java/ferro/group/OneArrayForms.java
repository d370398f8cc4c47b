// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.Collective;
import ferro.ReduceOp;
import java.time.Duration;

/** The forms of {@link ProcessGroup} for one array: each wraps it without copying. */
abstract class OneArrayForms extends GroupCalls {
    OneArrayForms(GroupEnd end, Duration timeout) {
        super(end, timeout);
    }

    /**
     * Combines the arrays of all ranks, element by element, into every rank's; in place. Elements are f32.
     *
     * @param data operand and result; of one length on all ranks
     * @param op   how
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if f32 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(float[] data, ReduceOp op) {
        run(allReduceOf(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, into every rank's; in place. Elements are f64.
     *
     * @param data operand and result; of one length on all ranks
     * @param op   how
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if f64 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(double[] data, ReduceOp op) {
        run(allReduceOf(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, into every rank's; in place. Elements are i32.
     *
     * @param data operand and result; of one length on all ranks
     * @param op   how
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i32 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(int[] data, ReduceOp op) {
        run(allReduceOf(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, into every rank's; in place. Elements are i64.
     *
     * @param data operand and result; of one length on all ranks
     * @param op   how
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i64 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(long[] data, ReduceOp op) {
        run(allReduceOf(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, into every rank's; in place. Elements are i16.
     *
     * @param data operand and result; of one length on all ranks
     * @param op   how
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i16 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(short[] data, ReduceOp op) {
        run(allReduceOf(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, into every rank's; in place. Elements are i8.
     *
     * @param data operand and result; of one length on all ranks
     * @param op   how
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i8 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void allReduce(byte[] data, ReduceOp op) {
        run(allReduceOf(of(requireNonNull(data, "data")), op));
    }

    /**
     * Copies the root's array to every rank. Elements are f32.
     *
     * @param data read on the root, written elsewhere; of one length on all ranks
     * @param root owner
     * @throws ferro.InvalidRankException if {@code root} is no rank of the group
     * @throws IllegalStateException      if the group is closed
     * @throws ferro.FerroException       if the group fails
     */
    public final void broadcast(float[] data, int root) {
        run(new Collective.Broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the root's array to every rank. Elements are f64.
     *
     * @param data read on the root, written elsewhere; of one length on all ranks
     * @param root owner
     * @throws ferro.InvalidRankException if {@code root} is no rank of the group
     * @throws IllegalStateException      if the group is closed
     * @throws ferro.FerroException       if the group fails
     */
    public final void broadcast(double[] data, int root) {
        run(new Collective.Broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the root's array to every rank. Elements are i32.
     *
     * @param data read on the root, written elsewhere; of one length on all ranks
     * @param root owner
     * @throws ferro.InvalidRankException if {@code root} is no rank of the group
     * @throws IllegalStateException      if the group is closed
     * @throws ferro.FerroException       if the group fails
     */
    public final void broadcast(int[] data, int root) {
        run(new Collective.Broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the root's array to every rank. Elements are i64.
     *
     * @param data read on the root, written elsewhere; of one length on all ranks
     * @param root owner
     * @throws ferro.InvalidRankException if {@code root} is no rank of the group
     * @throws IllegalStateException      if the group is closed
     * @throws ferro.FerroException       if the group fails
     */
    public final void broadcast(long[] data, int root) {
        run(new Collective.Broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the root's array to every rank. Elements are i16.
     *
     * @param data read on the root, written elsewhere; of one length on all ranks
     * @param root owner
     * @throws ferro.InvalidRankException if {@code root} is no rank of the group
     * @throws IllegalStateException      if the group is closed
     * @throws ferro.FerroException       if the group fails
     */
    public final void broadcast(short[] data, int root) {
        run(new Collective.Broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the root's array to every rank. Elements are i8.
     *
     * @param data read on the root, written elsewhere; of one length on all ranks
     * @param root owner
     * @throws ferro.InvalidRankException if {@code root} is no rank of the group
     * @throws IllegalStateException      if the group is closed
     * @throws ferro.FerroException       if the group fails
     */
    public final void broadcast(byte[] data, int root) {
        run(new Collective.Broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Combines the arrays of all ranks into the root's; the others' stay as they are. Elements are f32.
     *
     * @param data operand, and on the root the result; of one length on all ranks
     * @param op   how
     * @param root receiver
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if f32 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(float[] data, ReduceOp op, int root) {
        run(reduceOf(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks into the root's; the others' stay as they are. Elements are f64.
     *
     * @param data operand, and on the root the result; of one length on all ranks
     * @param op   how
     * @param root receiver
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if f64 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(double[] data, ReduceOp op, int root) {
        run(reduceOf(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks into the root's; the others' stay as they are. Elements are i32.
     *
     * @param data operand, and on the root the result; of one length on all ranks
     * @param op   how
     * @param root receiver
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i32 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(int[] data, ReduceOp op, int root) {
        run(reduceOf(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks into the root's; the others' stay as they are. Elements are i64.
     *
     * @param data operand, and on the root the result; of one length on all ranks
     * @param op   how
     * @param root receiver
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i64 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(long[] data, ReduceOp op, int root) {
        run(reduceOf(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks into the root's; the others' stay as they are. Elements are i16.
     *
     * @param data operand, and on the root the result; of one length on all ranks
     * @param op   how
     * @param root receiver
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i16 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(short[] data, ReduceOp op, int root) {
        run(reduceOf(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks into the root's; the others' stay as they are. Elements are i8.
     *
     * @param data operand, and on the root the result; of one length on all ranks
     * @param op   how
     * @param root receiver
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i8 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduce(byte[] data, ReduceOp op, int root) {
        run(reduceOf(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and the array may be reused. Elements are f32.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException if the tag is negative, or {@code to} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void send(float[] data, int to, int tag) {
        sending(of(requireNonNull(data, "data")), to, tag).await();
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and the array may be reused. Elements are f64.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException if the tag is negative, or {@code to} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void send(double[] data, int to, int tag) {
        sending(of(requireNonNull(data, "data")), to, tag).await();
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and the array may be reused. Elements are i32.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException if the tag is negative, or {@code to} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void send(int[] data, int to, int tag) {
        sending(of(requireNonNull(data, "data")), to, tag).await();
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and the array may be reused. Elements are i64.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException if the tag is negative, or {@code to} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void send(long[] data, int to, int tag) {
        sending(of(requireNonNull(data, "data")), to, tag).await();
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and the array may be reused. Elements are i16.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException if the tag is negative, or {@code to} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void send(short[] data, int to, int tag) {
        sending(of(requireNonNull(data, "data")), to, tag).await();
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and the array may be reused. Elements are i8.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     * @throws IllegalArgumentException if the tag is negative, or {@code to} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void send(byte[] data, int to, int tag) {
        sending(of(requireNonNull(data, "data")), to, tag).await();
    }

    /**
     * Receives; messages of other tags may have been sent before. Elements are f32.
     *
     * @param data where to; exactly as many elements as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException if the tag is negative, or {@code from} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void recv(float[] data, int from, int tag) {
        receiving(of(requireNonNull(data, "data")), from, tag).await();
    }

    /**
     * Receives; messages of other tags may have been sent before. Elements are f64.
     *
     * @param data where to; exactly as many elements as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException if the tag is negative, or {@code from} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void recv(double[] data, int from, int tag) {
        receiving(of(requireNonNull(data, "data")), from, tag).await();
    }

    /**
     * Receives; messages of other tags may have been sent before. Elements are i32.
     *
     * @param data where to; exactly as many elements as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException if the tag is negative, or {@code from} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void recv(int[] data, int from, int tag) {
        receiving(of(requireNonNull(data, "data")), from, tag).await();
    }

    /**
     * Receives; messages of other tags may have been sent before. Elements are i64.
     *
     * @param data where to; exactly as many elements as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException if the tag is negative, or {@code from} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void recv(long[] data, int from, int tag) {
        receiving(of(requireNonNull(data, "data")), from, tag).await();
    }

    /**
     * Receives; messages of other tags may have been sent before. Elements are i16.
     *
     * @param data where to; exactly as many elements as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException if the tag is negative, or {@code from} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void recv(short[] data, int from, int tag) {
        receiving(of(requireNonNull(data, "data")), from, tag).await();
    }

    /**
     * Receives; messages of other tags may have been sent before. Elements are i8.
     *
     * @param data where to; exactly as many elements as were sent
     * @param from rank
     * @param tag  as sent
     * @throws IllegalArgumentException if the tag is negative, or {@code from} no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the message or the group fails
     */
    public final void recv(byte[] data, int from, int tag) {
        receiving(of(requireNonNull(data, "data")), from, tag).await();
    }
}

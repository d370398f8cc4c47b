// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.ReduceOp;

/**
 * The forms of {@link ProcessGroup} for arrays that have a root. Each form wraps the arrays without a copy and does the
 * same as the form of this name in {@link TensorForms}.
 */
abstract class RootedArrayForms extends ArrayMessages {
    RootedArrayForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Copies the array of the root to every rank. The elements are f32.
     * {@link ProcessGroup#broadcast(ferro.Tensor, int) broadcast} is the same on a tensor.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(float[] data, int root) {
        run(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the array of the root to every rank. The elements are f64.
     * {@link ProcessGroup#broadcast(ferro.Tensor, int) broadcast} is the same on a tensor.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(double[] data, int root) {
        run(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the array of the root to every rank. The elements are i32.
     * {@link ProcessGroup#broadcast(ferro.Tensor, int) broadcast} is the same on a tensor.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(int[] data, int root) {
        run(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the array of the root to every rank. The elements are i64.
     * {@link ProcessGroup#broadcast(ferro.Tensor, int) broadcast} is the same on a tensor.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(long[] data, int root) {
        run(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the array of the root to every rank. The elements are i16.
     * {@link ProcessGroup#broadcast(ferro.Tensor, int) broadcast} is the same on a tensor.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(short[] data, int root) {
        run(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Copies the array of the root to every rank. The elements are i8.
     * {@link ProcessGroup#broadcast(ferro.Tensor, int) broadcast} is the same on a tensor.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void broadcast(byte[] data, int root) {
        run(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of the root.
     * The arrays of the other ranks stay unchanged. The elements are f32.
     * {@link ProcessGroup#reduce(ferro.Tensor, ReduceOp, int) reduce} is the same on a tensor.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(float[] data, ReduceOp op, int root) {
        run(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of the root.
     * The arrays of the other ranks stay unchanged. The elements are f64.
     * {@link ProcessGroup#reduce(ferro.Tensor, ReduceOp, int) reduce} is the same on a tensor.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(double[] data, ReduceOp op, int root) {
        run(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of the root.
     * The arrays of the other ranks stay unchanged. The elements are i32.
     * {@link ProcessGroup#reduce(ferro.Tensor, ReduceOp, int) reduce} is the same on a tensor.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(int[] data, ReduceOp op, int root) {
        run(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of the root.
     * The arrays of the other ranks stay unchanged. The elements are i64.
     * {@link ProcessGroup#reduce(ferro.Tensor, ReduceOp, int) reduce} is the same on a tensor.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(long[] data, ReduceOp op, int root) {
        run(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of the root.
     * The arrays of the other ranks stay unchanged. The elements are i16.
     * {@link ProcessGroup#reduce(ferro.Tensor, ReduceOp, int) reduce} is the same on a tensor.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(short[] data, ReduceOp op, int root) {
        run(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of the root.
     * The arrays of the other ranks stay unchanged. The elements are i8.
     * {@link ProcessGroup#reduce(ferro.Tensor, ReduceOp, int) reduce} is the same on a tensor.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduce(byte[] data, ReduceOp op, int root) {
        run(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. The elements are f32.
     * {@link ProcessGroup#gather(ferro.Tensor, ferro.Tensor, int) gather} is the same on tensors.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(float[] in, float[] out, int root) {
        run(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. The elements are f64.
     * {@link ProcessGroup#gather(ferro.Tensor, ferro.Tensor, int) gather} is the same on tensors.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(double[] in, double[] out, int root) {
        run(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. The elements are i32.
     * {@link ProcessGroup#gather(ferro.Tensor, ferro.Tensor, int) gather} is the same on tensors.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(int[] in, int[] out, int root) {
        run(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. The elements are i64.
     * {@link ProcessGroup#gather(ferro.Tensor, ferro.Tensor, int) gather} is the same on tensors.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(long[] in, long[] out, int root) {
        run(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. The elements are i16.
     * {@link ProcessGroup#gather(ferro.Tensor, ferro.Tensor, int) gather} is the same on tensors.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(short[] in, short[] out, int root) {
        run(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. The elements are i8.
     * {@link ProcessGroup#gather(ferro.Tensor, ferro.Tensor, int) gather} is the same on tensors.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void gather(byte[] in, byte[] out, int root) {
        run(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Sends part r of the array of the root to rank r. The elements are f32.
     * {@link ProcessGroup#scatter(ferro.Tensor, ferro.Tensor, int) scatter} is the same on tensors.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(float[] in, float[] out, int root) {
        run(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Sends part r of the array of the root to rank r. The elements are f64.
     * {@link ProcessGroup#scatter(ferro.Tensor, ferro.Tensor, int) scatter} is the same on tensors.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(double[] in, double[] out, int root) {
        run(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Sends part r of the array of the root to rank r. The elements are i32.
     * {@link ProcessGroup#scatter(ferro.Tensor, ferro.Tensor, int) scatter} is the same on tensors.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(int[] in, int[] out, int root) {
        run(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Sends part r of the array of the root to rank r. The elements are i64.
     * {@link ProcessGroup#scatter(ferro.Tensor, ferro.Tensor, int) scatter} is the same on tensors.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(long[] in, long[] out, int root) {
        run(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Sends part r of the array of the root to rank r. The elements are i16.
     * {@link ProcessGroup#scatter(ferro.Tensor, ferro.Tensor, int) scatter} is the same on tensors.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(short[] in, short[] out, int root) {
        run(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Sends part r of the array of the root to rank r. The elements are i8.
     * {@link ProcessGroup#scatter(ferro.Tensor, ferro.Tensor, int) scatter} is the same on tensors.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void scatter(byte[] in, byte[] out, int root) {
        run(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }
}

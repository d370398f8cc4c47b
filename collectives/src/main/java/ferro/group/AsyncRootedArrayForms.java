// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.ReduceOp;
import ferro.Work;

/**
 * The asynchronous forms of {@link ProcessGroup} for arrays that have a root. Each form wraps the arrays without a
 * copy and does the same as the form of this name in {@link TensorForms}.
 */
abstract class AsyncRootedArrayForms extends RootedArrayForms {
    AsyncRootedArrayForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Starts a broadcast, and does not wait for other ranks. The elements are f32. The array must not be
     * used until the work is done.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(float[] data, int root) {
        return submit(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Starts a broadcast, and does not wait for other ranks. The elements are f64. The array must not be
     * used until the work is done.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(double[] data, int root) {
        return submit(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Starts a broadcast, and does not wait for other ranks. The elements are i32. The array must not be
     * used until the work is done.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(int[] data, int root) {
        return submit(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Starts a broadcast, and does not wait for other ranks. The elements are i64. The array must not be
     * used until the work is done.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(long[] data, int root) {
        return submit(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Starts a broadcast, and does not wait for other ranks. The elements are i16. The array must not be
     * used until the work is done.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(short[] data, int root) {
        return submit(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Starts a broadcast, and does not wait for other ranks. The elements are i8. The array must not be
     * used until the work is done.
     *
     * @param data read on the root, written on the other ranks; the same length on every rank
     * @param root rank that has the elements
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws ferro.InvalidRankException    if {@code root} is no rank of the group
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work broadcastAsync(byte[] data, int root) {
        return submit(Collective.broadcast(of(requireNonNull(data, "data")), root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks. The elements are f32. The array must not be
     * used until the work is done.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(float[] data, ReduceOp op, int root) {
        return submit(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks. The elements are f64. The array must not be
     * used until the work is done.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(double[] data, ReduceOp op, int root) {
        return submit(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks. The elements are i32. The array must not be
     * used until the work is done.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(int[] data, ReduceOp op, int root) {
        return submit(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks. The elements are i64. The array must not be
     * used until the work is done.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(long[] data, ReduceOp op, int root) {
        return submit(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks. The elements are i16. The array must not be
     * used until the work is done.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(short[] data, ReduceOp op, int root) {
        return submit(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Starts a reduce, and does not wait for other ranks. The elements are i8. The array must not be
     * used until the work is done.
     *
     * @param data operand, and on the root the result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @param root rank that gets the result
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type, or {@code root}
     *     is no rank of the group ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceAsync(byte[] data, ReduceOp op, int root) {
        return submit(Collective.reduce(of(requireNonNull(data, "data")), op, root));
    }

    /**
     * Starts a gather, and does not wait for other ranks. The elements are f32. Neither array may be
     * used until the work is done.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(float[] in, float[] out, int root) {
        return submit(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Starts a gather, and does not wait for other ranks. The elements are f64. Neither array may be
     * used until the work is done.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(double[] in, double[] out, int root) {
        return submit(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Starts a gather, and does not wait for other ranks. The elements are i32. Neither array may be
     * used until the work is done.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(int[] in, int[] out, int root) {
        return submit(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Starts a gather, and does not wait for other ranks. The elements are i64. Neither array may be
     * used until the work is done.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(long[] in, long[] out, int root) {
        return submit(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Starts a gather, and does not wait for other ranks. The elements are i16. Neither array may be
     * used until the work is done.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(short[] in, short[] out, int root) {
        return submit(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Starts a gather, and does not wait for other ranks. The elements are i8. Neither array may be
     * used until the work is done.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param root rank that gets all parts
     * @return handle
     * @throws NullPointerException          if {@code in} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work gatherAsync(byte[] in, byte[] out, int root) {
        return submit(gatherOf(of(requireNonNull(in, "input")), out == null ? null : of(out), root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks. The elements are f32. Neither array may be
     * used until the work is done.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(float[] in, float[] out, int root) {
        return submit(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks. The elements are f64. Neither array may be
     * used until the work is done.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(double[] in, double[] out, int root) {
        return submit(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks. The elements are i32. Neither array may be
     * used until the work is done.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(int[] in, int[] out, int root) {
        return submit(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks. The elements are i64. Neither array may be
     * used until the work is done.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(long[] in, long[] out, int root) {
        return submit(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks. The elements are i16. Neither array may be
     * used until the work is done.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(short[] in, short[] out, int root) {
        return submit(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }

    /**
     * Starts a scatter, and does not wait for other ranks. The elements are i8. Neither array may be
     * used until the work is done.
     *
     * @param in   all parts on the root, {@code worldSize * n} elements; may be null on the other ranks, where it is
     *     ignored
     * @param out  own part, {@code n} elements
     * @param root rank that has all parts
     * @return handle
     * @throws NullPointerException          if {@code out} is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code root} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work scatterAsync(byte[] in, byte[] out, int root) {
        return submit(scatterOf(in == null ? null : of(in), of(requireNonNull(out, "output")), root));
    }
}

// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.ReduceOp;
import ferro.Work;

/**
 * The asynchronous forms of {@link ProcessGroup} for arrays that have no root. Each form wraps the arrays without a
 * copy and does the same as the form of this name in {@link TensorForms}.
 */
abstract class AsyncArrayForms extends ArrayForms {
    AsyncArrayForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits. The elements are
     * f32. The array must not be used until the work is done.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="async" :
     *
     * Work sum = group.allReduceAsync(gradient, ReduceOp.SUM);
     * prepareNextBatch(); // without the gradient
     * sum.await();
     * }
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(float[] data, ReduceOp op) {
        return submit(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits. The elements are
     * f64. The array must not be used until the work is done.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(double[] data, ReduceOp op) {
        return submit(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits. The elements are
     * i32. The array must not be used until the work is done.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(int[] data, ReduceOp op) {
        return submit(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits. The elements are
     * i64. The array must not be used until the work is done.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(long[] data, ReduceOp op) {
        return submit(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits. The elements are
     * i16. The array must not be used until the work is done.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(short[] data, ReduceOp op) {
        return submit(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an all-reduce in place, and does not wait for other ranks. Every rank gets the same bits. The elements are
     * i8. The array must not be used until the work is done.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allReduceAsync(byte[] data, ReduceOp op) {
        return submit(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks. The elements are f32. Neither array may be
     * used until the work is done.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(float[] in, float[] out) {
        return submit(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks. The elements are f64. Neither array may be
     * used until the work is done.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(double[] in, double[] out) {
        return submit(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks. The elements are i32. Neither array may be
     * used until the work is done.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(int[] in, int[] out) {
        return submit(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks. The elements are i64. Neither array may be
     * used until the work is done.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(long[] in, long[] out) {
        return submit(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks. The elements are i16. Neither array may be
     * used until the work is done.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(short[] in, short[] out) {
        return submit(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-gather, and does not wait for other ranks. The elements are i8. Neither array may be
     * used until the work is done.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allGatherAsync(byte[] in, byte[] out) {
        return submit(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks. The elements are f32. Neither array may be
     * used until the work is done.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(float[] in, float[] out, ReduceOp op) {
        return submit(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks. The elements are f64. Neither array may be
     * used until the work is done.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(double[] in, double[] out, ReduceOp op) {
        return submit(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks. The elements are i32. Neither array may be
     * used until the work is done.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(int[] in, int[] out, ReduceOp op) {
        return submit(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks. The elements are i64. Neither array may be
     * used until the work is done.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(long[] in, long[] out, ReduceOp op) {
        return submit(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks. The elements are i16. Neither array may be
     * used until the work is done.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(short[] in, short[] out, ReduceOp op) {
        return submit(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Starts a reduce-scatter, and does not wait for other ranks. The elements are i8. Neither array may be
     * used until the work is done.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not support
     *     the reduction
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work reduceScatterAsync(byte[] in, byte[] out, ReduceOp op) {
        return submit(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks. The elements are f32. Neither array may be
     * used until the work is done.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(float[] in, float[] out) {
        return submit(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks. The elements are f64. Neither array may be
     * used until the work is done.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(double[] in, double[] out) {
        return submit(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks. The elements are i32. Neither array may be
     * used until the work is done.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(int[] in, int[] out) {
        return submit(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks. The elements are i64. Neither array may be
     * used until the work is done.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(long[] in, long[] out) {
        return submit(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks. The elements are i16. Neither array may be
     * used until the work is done.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(short[] in, short[] out) {
        return submit(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Starts an all-to-all, and does not wait for other ranks. The elements are i8. Neither array may be
     * used until the work is done.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @return handle
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws TIMED_OUT, MISMATCH and others
     */
    public final Work allToAllAsync(byte[] in, byte[] out) {
        return submit(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }
}

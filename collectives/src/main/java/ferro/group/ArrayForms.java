// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.Collective;
import ferro.ReduceOp;

/**
 * The forms of {@link ProcessGroup} for arrays that have no root. Each form wraps the arrays without a copy and does
 * the same as the form of this name in {@link TensorForms}.
 */
abstract class ArrayForms extends AsyncRootedArrayForms {
    ArrayForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of every
     * rank. Every rank gets the same bits. The elements are f32.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="arrays" :
     *
     * float[] part = {group.rank(), 10};
     * float[] all = new float[group.worldSize() * part.length];
     * group.allGather(part, all); // the part of rank r begins at r * part.length
     * group.allReduce(part, ReduceOp.SUM);
     * }
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(float[] data, ReduceOp op) {
        run(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of every
     * rank. Every rank gets the same bits. The elements are f64.
     * {@link ProcessGroup#allReduce(ferro.Tensor, ReduceOp) allReduce} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(double[] data, ReduceOp op) {
        run(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of every
     * rank. Every rank gets the same bits. The elements are i32.
     * {@link ProcessGroup#allReduce(ferro.Tensor, ReduceOp) allReduce} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(int[] data, ReduceOp op) {
        run(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of every
     * rank. Every rank gets the same bits. The elements are i64.
     * {@link ProcessGroup#allReduce(ferro.Tensor, ReduceOp) allReduce} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(long[] data, ReduceOp op) {
        run(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of every
     * rank. Every rank gets the same bits. The elements are i16.
     * {@link ProcessGroup#allReduce(ferro.Tensor, ReduceOp) allReduce} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(short[] data, ReduceOp op) {
        run(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and writes the result in place into the array of every
     * rank. Every rank gets the same bits. The elements are i8.
     * {@link ProcessGroup#allReduce(ferro.Tensor, ReduceOp) allReduce} is the same on a tensor.
     *
     * @param data operand and result; the same length on every rank
     * @param op   reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the reduction is user-defined for another element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allReduce(byte[] data, ReduceOp op) {
        run(Collective.allReduce(of(requireNonNull(data, "data")), op));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. The elements are f32.
     * {@link ProcessGroup#allGather(ferro.Tensor, ferro.Tensor) allGather} is the same on tensors.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(float[] in, float[] out) {
        run(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. The elements are f64.
     * {@link ProcessGroup#allGather(ferro.Tensor, ferro.Tensor) allGather} is the same on tensors.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(double[] in, double[] out) {
        run(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. The elements are i32.
     * {@link ProcessGroup#allGather(ferro.Tensor, ferro.Tensor) allGather} is the same on tensors.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(int[] in, int[] out) {
        run(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. The elements are i64.
     * {@link ProcessGroup#allGather(ferro.Tensor, ferro.Tensor) allGather} is the same on tensors.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(long[] in, long[] out) {
        run(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. The elements are i16.
     * {@link ProcessGroup#allGather(ferro.Tensor, ferro.Tensor) allGather} is the same on tensors.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(short[] in, short[] out) {
        run(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. The elements are i8.
     * {@link ProcessGroup#allGather(ferro.Tensor, ferro.Tensor) allGather} is the same on tensors.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; the part of rank r begins at {@code r * n}
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allGather(byte[] in, byte[] out) {
        run(Collective.allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Combines the arrays of all ranks, element by element, and leaves part r of the result on rank r. The elements are
     * f32. {@link ProcessGroup#reduceScatter(ferro.Tensor, ferro.Tensor, ReduceOp) reduceScatter} is the same on tensors.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f32 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(float[] in, float[] out, ReduceOp op) {
        run(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and leaves part r of the result on rank r. The elements are
     * f64. {@link ProcessGroup#reduceScatter(ferro.Tensor, ferro.Tensor, ReduceOp) reduceScatter} is the same on tensors.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or f64 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(double[] in, double[] out, ReduceOp op) {
        run(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and leaves part r of the result on rank r. The elements are
     * i32. {@link ProcessGroup#reduceScatter(ferro.Tensor, ferro.Tensor, ReduceOp) reduceScatter} is the same on tensors.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i32 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(int[] in, int[] out, ReduceOp op) {
        run(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and leaves part r of the result on rank r. The elements are
     * i64. {@link ProcessGroup#reduceScatter(ferro.Tensor, ferro.Tensor, ReduceOp) reduceScatter} is the same on tensors.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i64 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(long[] in, long[] out, ReduceOp op) {
        run(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and leaves part r of the result on rank r. The elements are
     * i16. {@link ProcessGroup#reduceScatter(ferro.Tensor, ferro.Tensor, ReduceOp) reduceScatter} is the same on tensors.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i16 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(short[] in, short[] out, ReduceOp op) {
        run(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Combines the arrays of all ranks, element by element, and leaves part r of the result on rank r. The elements are
     * i8. {@link ProcessGroup#reduceScatter(ferro.Tensor, ferro.Tensor, ReduceOp) reduceScatter} is the same on tensors.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  reduction; the same on every rank
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or the reduction is user-defined for another
     *     element type
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call, or i8 does not support
     *     the reduction
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void reduceScatter(byte[] in, byte[] out, ReduceOp op) {
        run(Collective.reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op));
    }

    /**
     * Sends part j of the array of each rank to rank j. The elements are f32.
     * {@link ProcessGroup#allToAll(ferro.Tensor, ferro.Tensor) allToAll} is the same on tensors.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(float[] in, float[] out) {
        run(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Sends part j of the array of each rank to rank j. The elements are f64.
     * {@link ProcessGroup#allToAll(ferro.Tensor, ferro.Tensor) allToAll} is the same on tensors.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(double[] in, double[] out) {
        run(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Sends part j of the array of each rank to rank j. The elements are i32.
     * {@link ProcessGroup#allToAll(ferro.Tensor, ferro.Tensor) allToAll} is the same on tensors.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(int[] in, int[] out) {
        run(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Sends part j of the array of each rank to rank j. The elements are i64.
     * {@link ProcessGroup#allToAll(ferro.Tensor, ferro.Tensor) allToAll} is the same on tensors.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(long[] in, long[] out) {
        run(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Sends part j of the array of each rank to rank j. The elements are i16.
     * {@link ProcessGroup#allToAll(ferro.Tensor, ferro.Tensor) allToAll} is the same on tensors.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(short[] in, short[] out) {
        run(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }

    /**
     * Sends part j of the array of each rank to rank j. The elements are i8.
     * {@link ProcessGroup#allToAll(ferro.Tensor, ferro.Tensor) allToAll} is the same on tensors.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements
     * @throws NullPointerException          if an argument is null
     * @throws IllegalArgumentException      if the lengths do not fit, or {@code in} and {@code out} are the same array
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          TIMED_OUT at the deadline, MISMATCH if lengths differ between ranks;
     *     another code if the group fails or has failed
     */
    public final void allToAll(byte[] in, byte[] out) {
        run(Collective.allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output"))));
    }
}

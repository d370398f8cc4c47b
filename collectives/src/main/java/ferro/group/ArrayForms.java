// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.ReduceOp;
import ferro.Tensor;

/** The forms of {@link ProcessGroup} for arrays: this class has those for an operand and a result. */
abstract class ArrayForms extends OneArrayForms {
    ArrayForms() {}

    /** What the forms below do; documented in {@link ProcessGroup#allGather(Tensor, Tensor)}. */
    public abstract void allGather(Tensor in, Tensor out);

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. Elements are f32.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; rank r's begins at {@code r * n}
     * @throws IllegalArgumentException if the lengths do not fit
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allGather(float[] in, float[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. Elements are f64.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; rank r's begins at {@code r * n}
     * @throws IllegalArgumentException if the lengths do not fit
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allGather(double[] in, double[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. Elements are i32.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; rank r's begins at {@code r * n}
     * @throws IllegalArgumentException if the lengths do not fit
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allGather(int[] in, int[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. Elements are i64.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; rank r's begins at {@code r * n}
     * @throws IllegalArgumentException if the lengths do not fit
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allGather(long[] in, long[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. Elements are i16.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; rank r's begins at {@code r * n}
     * @throws IllegalArgumentException if the lengths do not fit
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allGather(short[] in, short[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Joins the arrays of all ranks, in rank order, on every rank. Elements are i8.
     *
     * @param in  own part, {@code n} elements
     * @param out all parts, {@code worldSize * n} elements; rank r's begins at {@code r * n}
     * @throws IllegalArgumentException if the lengths do not fit
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allGather(byte[] in, byte[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** What the forms below do; documented in {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}. */
    public abstract void reduceScatter(Tensor in, Tensor out, ReduceOp op);

    /**
     * Combines the arrays of all ranks and leaves part r of the result on rank r. Elements are f32.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  how
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if f32 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(float[] in, float[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /**
     * Combines the arrays of all ranks and leaves part r of the result on rank r. Elements are f64.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  how
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if f64 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(double[] in, double[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /**
     * Combines the arrays of all ranks and leaves part r of the result on rank r. Elements are i32.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  how
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i32 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(int[] in, int[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /**
     * Combines the arrays of all ranks and leaves part r of the result on rank r. Elements are i64.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  how
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i64 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(long[] in, long[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /**
     * Combines the arrays of all ranks and leaves part r of the result on rank r. Elements are i16.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  how
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i16 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(short[] in, short[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /**
     * Combines the arrays of all ranks and leaves part r of the result on rank r. Elements are i8.
     *
     * @param in  operand, {@code worldSize * n} elements
     * @param out own part of the result, {@code n} elements
     * @param op  how
     * @throws IllegalArgumentException      if the lengths do not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if i8 has no such reduction
     * @throws ferro.FerroException          if the group fails
     */
    public final void reduceScatter(byte[] in, byte[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** What the forms below do; documented in {@link ProcessGroup#gather(Tensor, Tensor, int)}. */
    public abstract void gather(Tensor in, Tensor out, int root);

    /**
     * Joins the arrays of all ranks, in rank order, on the root. Elements are f32.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void gather(float[] in, float[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. Elements are f64.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void gather(double[] in, double[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. Elements are i32.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void gather(int[] in, int[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. Elements are i64.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void gather(long[] in, long[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. Elements are i16.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void gather(short[] in, short[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /**
     * Joins the arrays of all ranks, in rank order, on the root. Elements are i8.
     *
     * @param in   own part, {@code n} elements
     * @param out  all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param root receiver
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void gather(byte[] in, byte[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** What the forms below do; documented in {@link ProcessGroup#scatter(Tensor, Tensor, int)}. */
    public abstract void scatter(Tensor in, Tensor out, int root);

    /**
     * Hands part r of the root's array to rank r. Elements are f32.
     *
     * @param in   all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param out  own part, {@code n} elements
     * @param root owner
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void scatter(float[] in, float[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /**
     * Hands part r of the root's array to rank r. Elements are f64.
     *
     * @param in   all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param out  own part, {@code n} elements
     * @param root owner
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void scatter(double[] in, double[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /**
     * Hands part r of the root's array to rank r. Elements are i32.
     *
     * @param in   all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param out  own part, {@code n} elements
     * @param root owner
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void scatter(int[] in, int[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /**
     * Hands part r of the root's array to rank r. Elements are i64.
     *
     * @param in   all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param out  own part, {@code n} elements
     * @param root owner
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void scatter(long[] in, long[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /**
     * Hands part r of the root's array to rank r. Elements are i16.
     *
     * @param in   all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param out  own part, {@code n} elements
     * @param root owner
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void scatter(short[] in, short[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /**
     * Hands part r of the root's array to rank r. Elements are i8.
     *
     * @param in   all parts, {@code worldSize * n} elements; may be null off the root, where it is ignored
     * @param out  own part, {@code n} elements
     * @param root owner
     * @throws IllegalArgumentException if lengths do not fit, or {@code root} is no rank ({@link ferro.InvalidRankException})
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void scatter(byte[] in, byte[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** What the forms below do; documented in {@link ProcessGroup#allToAll(Tensor, Tensor)}. */
    public abstract void allToAll(Tensor in, Tensor out);

    /**
     * Sends part j of each rank's array to rank j. Elements are f32.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @throws IllegalArgumentException if the lengths do not fit, or {@code in} is {@code out}
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allToAll(float[] in, float[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Sends part j of each rank's array to rank j. Elements are f64.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @throws IllegalArgumentException if the lengths do not fit, or {@code in} is {@code out}
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allToAll(double[] in, double[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Sends part j of each rank's array to rank j. Elements are i32.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @throws IllegalArgumentException if the lengths do not fit, or {@code in} is {@code out}
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allToAll(int[] in, int[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Sends part j of each rank's array to rank j. Elements are i64.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @throws IllegalArgumentException if the lengths do not fit, or {@code in} is {@code out}
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allToAll(long[] in, long[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Sends part j of each rank's array to rank j. Elements are i16.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @throws IllegalArgumentException if the lengths do not fit, or {@code in} is {@code out}
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allToAll(short[] in, short[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /**
     * Sends part j of each rank's array to rank j. Elements are i8.
     *
     * @param in  parts by destination, {@code worldSize * n} elements
     * @param out parts by source, {@code worldSize * n} elements; another array than {@code in}
     * @throws IllegalArgumentException if the lengths do not fit, or {@code in} is {@code out}
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails
     */
    public final void allToAll(byte[] in, byte[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }
}

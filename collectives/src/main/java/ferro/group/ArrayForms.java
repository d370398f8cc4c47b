// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.Collective;
import ferro.ReduceOp;
import java.time.Duration;

/** The forms of {@link ProcessGroup} for arrays: this class has those for an operand and a result. */
abstract class ArrayForms extends OneArrayForms {
    ArrayForms(GroupEnd end, Duration timeout) {
        super(end, timeout);
    }

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
        run(new Collective.AllGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null));
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
        run(new Collective.AllGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null));
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
        run(new Collective.AllGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null));
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
        run(new Collective.AllGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null));
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
        run(new Collective.AllGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null));
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
        run(new Collective.AllGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null));
    }

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
        run(new Collective.ReduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op, null));
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
        run(new Collective.ReduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op, null));
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
        run(new Collective.ReduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op, null));
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
        run(new Collective.ReduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op, null));
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
        run(new Collective.ReduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op, null));
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
        run(new Collective.ReduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op, null));
    }

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
        run(new Collective.Gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root, null));
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
        run(new Collective.Gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root, null));
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
        run(new Collective.Gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root, null));
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
        run(new Collective.Gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root, null));
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
        run(new Collective.Gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root, null));
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
        run(new Collective.Gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root, null));
    }

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
        run(new Collective.Scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root, null));
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
        run(new Collective.Scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root, null));
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
        run(new Collective.Scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root, null));
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
        run(new Collective.Scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root, null));
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
        run(new Collective.Scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root, null));
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
        run(new Collective.Scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root, null));
    }

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
        run(new Collective.AllToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null, null));
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
        run(new Collective.AllToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null, null));
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
        run(new Collective.AllToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null, null));
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
        run(new Collective.AllToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null, null));
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
        run(new Collective.AllToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null, null));
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
        run(new Collective.AllToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), null, null));
    }
}

package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.ReduceOp;
import ferro.Tensor;

/** The array forms of {@link ProcessGroup}: one line each, the array wrapped without copying. */
abstract class ArrayForms {
    ArrayForms() {}

    /** What the forms below do; documented in {@link ProcessGroup#allReduce(Tensor, ReduceOp)}. */
    public abstract void allReduce(Tensor data, ReduceOp op);

    /** See {@link ProcessGroup#allReduce(Tensor, ReduceOp)}; of floats. */
    public final void allReduce(float[] data, ReduceOp op) {
        allReduce(of(requireNonNull(data, "data")), op);
    }

    /** See {@link ProcessGroup#allReduce(Tensor, ReduceOp)}; of doubles. */
    public final void allReduce(double[] data, ReduceOp op) {
        allReduce(of(requireNonNull(data, "data")), op);
    }

    /** See {@link ProcessGroup#allReduce(Tensor, ReduceOp)}; of ints. */
    public final void allReduce(int[] data, ReduceOp op) {
        allReduce(of(requireNonNull(data, "data")), op);
    }

    /** See {@link ProcessGroup#allReduce(Tensor, ReduceOp)}; of longs. */
    public final void allReduce(long[] data, ReduceOp op) {
        allReduce(of(requireNonNull(data, "data")), op);
    }

    /** See {@link ProcessGroup#allReduce(Tensor, ReduceOp)}; of 16-bit integers. */
    public final void allReduce(short[] data, ReduceOp op) {
        allReduce(of(requireNonNull(data, "data")), op);
    }

    /** See {@link ProcessGroup#allReduce(Tensor, ReduceOp)}; of 8-bit integers. */
    public final void allReduce(byte[] data, ReduceOp op) {
        allReduce(of(requireNonNull(data, "data")), op);
    }

    /** What the forms below do; documented in {@link ProcessGroup#broadcast(Tensor, int)}. */
    public abstract void broadcast(Tensor data, int root);

    /** See {@link ProcessGroup#broadcast(Tensor, int)}; of floats. */
    public final void broadcast(float[] data, int root) {
        broadcast(of(requireNonNull(data, "data")), root);
    }

    /** See {@link ProcessGroup#broadcast(Tensor, int)}; of doubles. */
    public final void broadcast(double[] data, int root) {
        broadcast(of(requireNonNull(data, "data")), root);
    }

    /** See {@link ProcessGroup#broadcast(Tensor, int)}; of ints. */
    public final void broadcast(int[] data, int root) {
        broadcast(of(requireNonNull(data, "data")), root);
    }

    /** See {@link ProcessGroup#broadcast(Tensor, int)}; of longs. */
    public final void broadcast(long[] data, int root) {
        broadcast(of(requireNonNull(data, "data")), root);
    }

    /** See {@link ProcessGroup#broadcast(Tensor, int)}; of 16-bit integers. */
    public final void broadcast(short[] data, int root) {
        broadcast(of(requireNonNull(data, "data")), root);
    }

    /** See {@link ProcessGroup#broadcast(Tensor, int)}; of 8-bit integers. */
    public final void broadcast(byte[] data, int root) {
        broadcast(of(requireNonNull(data, "data")), root);
    }

    /** What the forms below do; documented in {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}. */
    public abstract void reduce(Tensor data, ReduceOp op, int root);

    /** See {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}; of floats. */
    public final void reduce(float[] data, ReduceOp op, int root) {
        reduce(of(requireNonNull(data, "data")), op, root);
    }

    /** See {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}; of doubles. */
    public final void reduce(double[] data, ReduceOp op, int root) {
        reduce(of(requireNonNull(data, "data")), op, root);
    }

    /** See {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}; of ints. */
    public final void reduce(int[] data, ReduceOp op, int root) {
        reduce(of(requireNonNull(data, "data")), op, root);
    }

    /** See {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}; of longs. */
    public final void reduce(long[] data, ReduceOp op, int root) {
        reduce(of(requireNonNull(data, "data")), op, root);
    }

    /** See {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}; of 16-bit integers. */
    public final void reduce(short[] data, ReduceOp op, int root) {
        reduce(of(requireNonNull(data, "data")), op, root);
    }

    /** See {@link ProcessGroup#reduce(Tensor, ReduceOp, int)}; of 8-bit integers. */
    public final void reduce(byte[] data, ReduceOp op, int root) {
        reduce(of(requireNonNull(data, "data")), op, root);
    }

    /** What the forms below do; documented in {@link ProcessGroup#allGather(Tensor, Tensor)}. */
    public abstract void allGather(Tensor in, Tensor out);

    /** See {@link ProcessGroup#allGather(Tensor, Tensor)}; of floats. */
    public final void allGather(float[] in, float[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allGather(Tensor, Tensor)}; of doubles. */
    public final void allGather(double[] in, double[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allGather(Tensor, Tensor)}; of ints. */
    public final void allGather(int[] in, int[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allGather(Tensor, Tensor)}; of longs. */
    public final void allGather(long[] in, long[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allGather(Tensor, Tensor)}; of 16-bit integers. */
    public final void allGather(short[] in, short[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allGather(Tensor, Tensor)}; of 8-bit integers. */
    public final void allGather(byte[] in, byte[] out) {
        allGather(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** What the forms below do; documented in {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}. */
    public abstract void reduceScatter(Tensor in, Tensor out, ReduceOp op);

    /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}; of floats. */
    public final void reduceScatter(float[] in, float[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}; of doubles. */
    public final void reduceScatter(double[] in, double[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}; of ints. */
    public final void reduceScatter(int[] in, int[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}; of longs. */
    public final void reduceScatter(long[] in, long[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}; of 16-bit integers. */
    public final void reduceScatter(short[] in, short[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** See {@link ProcessGroup#reduceScatter(Tensor, Tensor, ReduceOp)}; of 8-bit integers. */
    public final void reduceScatter(byte[] in, byte[] out, ReduceOp op) {
        reduceScatter(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")), op);
    }

    /** What the forms below do; documented in {@link ProcessGroup#gather(Tensor, Tensor, int)}. */
    public abstract void gather(Tensor in, Tensor out, int root);

    /** See {@link ProcessGroup#gather(Tensor, Tensor, int)}; of floats. */
    public final void gather(float[] in, float[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** See {@link ProcessGroup#gather(Tensor, Tensor, int)}; of doubles. */
    public final void gather(double[] in, double[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** See {@link ProcessGroup#gather(Tensor, Tensor, int)}; of ints. */
    public final void gather(int[] in, int[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** See {@link ProcessGroup#gather(Tensor, Tensor, int)}; of longs. */
    public final void gather(long[] in, long[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** See {@link ProcessGroup#gather(Tensor, Tensor, int)}; of 16-bit integers. */
    public final void gather(short[] in, short[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** See {@link ProcessGroup#gather(Tensor, Tensor, int)}; of 8-bit integers. */
    public final void gather(byte[] in, byte[] out, int root) {
        gather(of(requireNonNull(in, "input")), out == null ? null : of(out), root);
    }

    /** What the forms below do; documented in {@link ProcessGroup#scatter(Tensor, Tensor, int)}. */
    public abstract void scatter(Tensor in, Tensor out, int root);

    /** See {@link ProcessGroup#scatter(Tensor, Tensor, int)}; of floats. */
    public final void scatter(float[] in, float[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** See {@link ProcessGroup#scatter(Tensor, Tensor, int)}; of doubles. */
    public final void scatter(double[] in, double[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** See {@link ProcessGroup#scatter(Tensor, Tensor, int)}; of ints. */
    public final void scatter(int[] in, int[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** See {@link ProcessGroup#scatter(Tensor, Tensor, int)}; of longs. */
    public final void scatter(long[] in, long[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** See {@link ProcessGroup#scatter(Tensor, Tensor, int)}; of 16-bit integers. */
    public final void scatter(short[] in, short[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** See {@link ProcessGroup#scatter(Tensor, Tensor, int)}; of 8-bit integers. */
    public final void scatter(byte[] in, byte[] out, int root) {
        scatter(in == null ? null : of(in), of(requireNonNull(out, "output")), root);
    }

    /** What the forms below do; documented in {@link ProcessGroup#allToAll(Tensor, Tensor)}. */
    public abstract void allToAll(Tensor in, Tensor out);

    /** See {@link ProcessGroup#allToAll(Tensor, Tensor)}; of floats. */
    public final void allToAll(float[] in, float[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allToAll(Tensor, Tensor)}; of doubles. */
    public final void allToAll(double[] in, double[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allToAll(Tensor, Tensor)}; of ints. */
    public final void allToAll(int[] in, int[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allToAll(Tensor, Tensor)}; of longs. */
    public final void allToAll(long[] in, long[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allToAll(Tensor, Tensor)}; of 16-bit integers. */
    public final void allToAll(short[] in, short[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** See {@link ProcessGroup#allToAll(Tensor, Tensor)}; of 8-bit integers. */
    public final void allToAll(byte[] in, byte[] out) {
        allToAll(of(requireNonNull(in, "input")), of(requireNonNull(out, "output")));
    }

    /** What the forms below do; documented in {@link ProcessGroup#send(Tensor, int, int)}. */
    public abstract void send(Tensor data, int to, int tag);

    /** See {@link ProcessGroup#send(Tensor, int, int)}; of floats. */
    public final void send(float[] data, int to, int tag) {
        send(of(requireNonNull(data, "data")), to, tag);
    }

    /** See {@link ProcessGroup#send(Tensor, int, int)}; of doubles. */
    public final void send(double[] data, int to, int tag) {
        send(of(requireNonNull(data, "data")), to, tag);
    }

    /** See {@link ProcessGroup#send(Tensor, int, int)}; of ints. */
    public final void send(int[] data, int to, int tag) {
        send(of(requireNonNull(data, "data")), to, tag);
    }

    /** See {@link ProcessGroup#send(Tensor, int, int)}; of longs. */
    public final void send(long[] data, int to, int tag) {
        send(of(requireNonNull(data, "data")), to, tag);
    }

    /** See {@link ProcessGroup#send(Tensor, int, int)}; of 16-bit integers. */
    public final void send(short[] data, int to, int tag) {
        send(of(requireNonNull(data, "data")), to, tag);
    }

    /** See {@link ProcessGroup#send(Tensor, int, int)}; of 8-bit integers. */
    public final void send(byte[] data, int to, int tag) {
        send(of(requireNonNull(data, "data")), to, tag);
    }

    /** What the forms below do; documented in {@link ProcessGroup#recv(Tensor, int, int)}. */
    public abstract void recv(Tensor data, int from, int tag);

    /** See {@link ProcessGroup#recv(Tensor, int, int)}; of floats. */
    public final void recv(float[] data, int from, int tag) {
        recv(of(requireNonNull(data, "data")), from, tag);
    }

    /** See {@link ProcessGroup#recv(Tensor, int, int)}; of doubles. */
    public final void recv(double[] data, int from, int tag) {
        recv(of(requireNonNull(data, "data")), from, tag);
    }

    /** See {@link ProcessGroup#recv(Tensor, int, int)}; of ints. */
    public final void recv(int[] data, int from, int tag) {
        recv(of(requireNonNull(data, "data")), from, tag);
    }

    /** See {@link ProcessGroup#recv(Tensor, int, int)}; of longs. */
    public final void recv(long[] data, int from, int tag) {
        recv(of(requireNonNull(data, "data")), from, tag);
    }

    /** See {@link ProcessGroup#recv(Tensor, int, int)}; of 16-bit integers. */
    public final void recv(short[] data, int from, int tag) {
        recv(of(requireNonNull(data, "data")), from, tag);
    }

    /** See {@link ProcessGroup#recv(Tensor, int, int)}; of 8-bit integers. */
    public final void recv(byte[] data, int from, int tag) {
        recv(of(requireNonNull(data, "data")), from, tag);
    }
}

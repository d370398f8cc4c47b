package ferro.group;

import ferro.Backend;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;

/**
 * The front door: one rank's end of a group, with every collective.
 *
 * <p>Every rank of the group calls the same collectives in the same order; calls of one rank may come from any thread,
 * but their order is the caller's to keep. Blocking calls run on the calling thread, work in place or into the tensors
 * given, and end by the group's deadline ({@code ferro.timeout}, 120 s) or the one of {@link #within}. Each has forms for
 * {@code float[] double[] int[] long[] short[] byte[]} and {@link Tensor}. Device tensors go over NCCL, or through host memory
 * if {@code ferro.gpu.fallback} allows it, else nowhere ({@link ferro.dispatch.GpuCollectives}, which also has forms that leave
 * their operand as it is).
 *
 * <p>Failures: bad shapes, types and ranks are {@link IllegalArgumentException} ({@link InvalidRankException}), what a back
 * end cannot do is {@link UnsupportedOperationException}, both before anything moves. What goes wrong under way is
 * {@link ferro.FerroException}, which fails the whole group on every rank.
 */
public final class ProcessGroup extends ArrayForms implements AutoCloseable {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend backend;
    private final TensorCalls calls;
    private final Duration timeout;
    private final boolean view;

    private ProcessGroup(TensorCalls calls, Duration timeout, boolean view) {
        this.backend = calls.backend();
        this.calls = calls;
        this.timeout = timeout;
        this.view = view;
    }

    /**
     * Joins the group that the environment describes: rank and world size by {@code ferro.rank} and {@code ferro.world.size}
     * or {@code RANK} and {@code WORLD_SIZE}, back end by {@code ferro.backend}.
     *
     * @return this rank's end
     * @throws IllegalArgumentException if a setting is missing or makes no sense
     * @throws ferro.FerroException     RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other
     */
    public static ProcessGroup join() {
        SystemContext context = SystemContext.ofProcess();
        return join(BackendSelection.specOf(context), context);
    }

    /**
     * Joins a group.
     *
     * @param group who
     * @return this rank's end
     * @throws IllegalArgumentException if a setting makes no sense
     * @throws ferro.FerroException     RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other
     */
    public static ProcessGroup join(GroupSpec group) {
        return join(group, SystemContext.ofProcess());
    }

    /**
     * Joins with everything from outside given: for tests, many ranks in one JVM, Spark.
     *
     * @param group   who
     * @param context settings, clock, store
     * @return this rank's end
     * @throws IllegalArgumentException if a setting makes no sense, or no back end of the name chosen can work
     * @throws ferro.FerroException     RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other
     */
    public static ProcessGroup join(GroupSpec group, RankContext context) {
        return of(BackendSelection.open(group, context), context);
    }

    /**
     * Wraps a back end; call it once per plain back end and rank, since a plain one gets its engine here.
     *
     * @param backend five methods or more
     * @return front door; closing it closes the back end
     */
    public static ProcessGroup of(Backend backend) {
        return of(backend, SystemContext.ofProcess());
    }

    /**
     * Wraps a back end, with everything from outside given: settings of the engine, and, read on every call on device tensors,
     * whether these may go through host memory.
     *
     * @param backend five methods or more
     * @param context settings, and what the groups of this rank share
     * @return front door; closing it closes the back end
     */
    public static ProcessGroup of(Backend backend, RankContext context) {
        Objects.requireNonNull(backend, "backend");
        CollectiveBackend whole =
                backend instanceof CollectiveBackend collective ? collective : CollectiveEngine.over(backend, context);
        return new ProcessGroup(TensorCalls.of(whole, context), whole.timeout(), false);
    }

    /**
     * Returns this rank.
     *
     * @return 0 to {@link #worldSize()} - 1
     */
    public int rank() {
        return backend.rank();
    }

    /**
     * Returns the number of ranks.
     *
     * @return at least 1
     */
    public int worldSize() {
        return backend.worldSize();
    }

    /**
     * Returns the back end.
     *
     * @return the one that this group calls
     */
    public Backend backend() {
        return backend;
    }

    /**
     * Returns a view of this group with another default deadline; the one way to give a call its own.
     *
     * @param deadline for each call, from its start to its end
     * @return view; closing it closes nothing
     * @throws IllegalArgumentException if it is zero or negative
     */
    public ProcessGroup within(Duration deadline) {
        if (deadline.isZero() || deadline.isNegative()) {
            throw new IllegalArgumentException("a deadline must be more than zero, found " + deadline);
        }
        return new ProcessGroup(calls, deadline, true);
    }

    /**
     * Combines the tensors of all ranks, element by element, into every rank's; in place.
     *
     * @param data operand and result; the same type and length on every rank
     * @param op   how
     */
    @Override
    public void allReduce(Tensor data, ReduceOp op) {
        run(new Collective.AllReduce(data, data, op));
    }

    /**
     * Starts an all-reduce in place.
     *
     * @param data operand and result, not to be touched until the work is done
     * @param op   how
     * @return handle
     */
    public Work allReduceAsync(Tensor data, ReduceOp op) {
        return submit(new Collective.AllReduce(data, data, op));
    }

    /**
     * Copies the root's tensor to every rank.
     *
     * @param data read on the root, written elsewhere; the same type and length on every rank
     * @param root owner
     */
    @Override
    public void broadcast(Tensor data, int root) {
        run(new Collective.Broadcast(data, root));
    }

    /**
     * Starts a broadcast.
     *
     * @param data read on the root, written elsewhere
     * @param root owner
     * @return handle
     */
    public Work broadcastAsync(Tensor data, int root) {
        return submit(new Collective.Broadcast(data, root));
    }

    /**
     * Combines the tensors of all ranks into the root's; the others' stay as they are.
     *
     * @param data operand, and on the root the result
     * @param op   how
     * @param root receiver
     */
    @Override
    public void reduce(Tensor data, ReduceOp op, int root) {
        run(reduceCall(data, op, root));
    }

    /**
     * Starts a reduce.
     *
     * @param data operand, and on the root the result
     * @param op   how
     * @param root receiver
     * @return handle
     */
    public Work reduceAsync(Tensor data, ReduceOp op, int root) {
        return submit(reduceCall(data, op, root));
    }

    /**
     * Joins the tensors of all ranks, in rank order, on every rank.
     *
     * @param in  own part, {@code [n]}; may be the rank's own part of {@code out}
     * @param out all parts, {@code [worldSize * n]}; rank r's begins at element {@code r * n}
     */
    @Override
    public void allGather(Tensor in, Tensor out) {
        run(new Collective.AllGather(in, out, null));
    }

    /**
     * Joins unequal parts of all ranks on every rank.
     *
     * @param in     own part
     * @param out    all parts
     * @param counts part lengths, equal on all ranks
     */
    public void allGather(Tensor in, Tensor out, long[] counts) {
        run(new Collective.AllGather(in, out, counts));
    }

    /**
     * Starts an all-gather.
     *
     * @param in  own part
     * @param out all parts
     * @return handle
     */
    public Work allGatherAsync(Tensor in, Tensor out) {
        return submit(new Collective.AllGather(in, out, null));
    }

    /**
     * Combines the tensors of all ranks and leaves part r of the result on rank r.
     *
     * @param in  operand, {@code [worldSize * n]}
     * @param out own part of the result, {@code [n]}; may be the rank's own part of {@code in}
     * @param op  how
     */
    @Override
    public void reduceScatter(Tensor in, Tensor out, ReduceOp op) {
        run(new Collective.ReduceScatter(in, out, op, null));
    }

    /**
     * Starts a reduce-scatter.
     *
     * @param in  operand
     * @param out own part of the result
     * @param op  how
     * @return handle
     */
    public Work reduceScatterAsync(Tensor in, Tensor out, ReduceOp op) {
        return submit(new Collective.ReduceScatter(in, out, op, null));
    }

    /**
     * Joins the tensors of all ranks, in rank order, on the root.
     *
     * @param in   own part, {@code [n]}; on the root it may be the own part of {@code out}
     * @param out  all parts, {@code [worldSize * n]}; may be null off the root
     * @param root receiver
     */
    @Override
    public void gather(Tensor in, Tensor out, int root) {
        run(new Collective.Gather(in, out, root, null));
    }

    /**
     * Starts a gather.
     *
     * @param in   own part
     * @param out  all parts; may be null off the root
     * @param root receiver
     * @return handle
     */
    public Work gatherAsync(Tensor in, Tensor out, int root) {
        return submit(new Collective.Gather(in, out, root, null));
    }

    /**
     * Hands part r of the root's tensor to rank r.
     *
     * @param in   all parts, {@code [worldSize * n]}; may be null off the root
     * @param out  own part, {@code [n]}; on the root it may be the own part of {@code in}
     * @param root owner
     */
    @Override
    public void scatter(Tensor in, Tensor out, int root) {
        run(new Collective.Scatter(in, out, root, null));
    }

    /**
     * Starts a scatter.
     *
     * @param in   all parts; may be null off the root
     * @param out  own part
     * @param root owner
     * @return handle
     */
    public Work scatterAsync(Tensor in, Tensor out, int root) {
        return submit(new Collective.Scatter(in, out, root, null));
    }

    /**
     * Sends part j of each rank's tensor to rank j.
     *
     * @param in  parts by destination, {@code [worldSize * n]}
     * @param out parts by source, {@code [worldSize * n]}; must not overlap {@code in}
     */
    @Override
    public void allToAll(Tensor in, Tensor out) {
        run(new Collective.AllToAll(in, out, null, null));
    }

    /**
     * Starts an all-to-all.
     *
     * @param in  parts by destination
     * @param out parts by source
     * @return handle
     */
    public Work allToAllAsync(Tensor in, Tensor out) {
        return submit(new Collective.AllToAll(in, out, null, null));
    }

    /** Returns when every rank has called it. */
    public void barrier() {
        run(new Collective.Barrier());
    }

    /**
     * Starts a barrier.
     *
     * @return handle; done when every rank has called it
     */
    public Work barrierAsync() {
        return submit(new Collective.Barrier());
    }

    /**
     * Sends; up to 64 KiB it returns at once, above when all of it is on its way and {@code data} may be reused.
     *
     * @param data elements
     * @param to   rank
     * @param tag  0 and up
     */
    @Override
    public void send(Tensor data, int to, int tag) {
        calls.send(data, peer(to), tag(tag), timeout).await();
    }

    /**
     * Starts a send.
     *
     * @param data elements, not to be touched until the work is done
     * @param to   rank
     * @param tag  0 and up
     * @return handle
     */
    public Work sendAsync(Tensor data, int to, int tag) {
        return calls.send(data, peer(to), tag(tag), timeout);
    }

    /**
     * Receives; messages of other tags may have been sent before.
     *
     * @param data where to; exactly as many bytes as were sent
     * @param from rank
     * @param tag  as sent
     */
    @Override
    public void recv(Tensor data, int from, int tag) {
        calls.recv(data, peer(from), tag(tag), timeout).await();
    }

    /**
     * Starts a receive.
     *
     * @param data where to
     * @param from rank
     * @param tag  as sent
     * @return handle
     */
    public Work recvAsync(Tensor data, int from, int tag) {
        return calls.recv(data, peer(from), tag(tag), timeout);
    }

    /**
     * Queues any collective; order of submit is order of execution.
     *
     * @param call operation
     * @return handle
     */
    public Work submit(Collective call) {
        return calls.submit(call, timeout);
    }

    /**
     * Makes a group of some ranks; called by exactly them, in the same order among other {@code newGroup} calls.
     *
     * @param ranks ranks of this group, this one among them, none twice
     * @return new group, whose ranks are the positions in {@code ranks}
     */
    public ProcessGroup newGroup(int... ranks) {
        for (int i = 0; i < ranks.length; i++) {
            peer(ranks[i]);
            for (int j = 0; j < i; j++) {
                if (ranks[i] == ranks[j]) {
                    throw new IllegalArgumentException(
                            "newGroup: rank " + ranks[i] + " stands twice in " + Arrays.toString(ranks));
                }
            }
        }
        CollectiveBackend child = backend.newGroup(ranks.clone(), Arrays.toString(ranks), timeout);
        return new ProcessGroup(TensorCalls.of(child, calls.context()), timeout, false);
    }

    /**
     * Splits; a collective of the whole group.
     *
     * @param color same color, same group; negative for none
     * @param key   order in the new group, ties by rank
     * @return new group, or null if color is negative
     */
    public ProcessGroup split(int color, int key) {
        int[] all = new int[2 * worldSize()];
        allGather(HostTensor.of(new int[] {color, key}), HostTensor.of(all));
        return color < 0 ? null : newGroup(SplitMembers.of(color, all));
    }

    /**
     * Fails everything pending and later, on all ranks; any thread, idempotent, the first cause wins.
     *
     * @param cause why
     */
    public void abort(Throwable cause) {
        backend.abort(cause);
    }

    /**
     * Ends the group within a bound: waits for queued work, says goodbye, then aborts what is left.
     *
     * @param bound how long at most
     */
    public void close(Duration bound) {
        if (!view) {
            calls.close(bound);
        }
    }

    /** Ends the group within 5 s. */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }

    private void run(Collective call) {
        calls.run(call, timeout);
    }

    private Collective reduceCall(Tensor data, ReduceOp op, int root) {
        return new Collective.Reduce(data, rank() == root ? data : null, op, root);
    }

    private int peer(int rank) {
        return InvalidRankException.check(rank, worldSize());
    }

    private static int tag(int tag) {
        if (tag < 0) {
            throw new IllegalArgumentException("a tag must be 0 or more, found " + tag + ": negative ones are ferro's");
        }
        return tag;
    }
}

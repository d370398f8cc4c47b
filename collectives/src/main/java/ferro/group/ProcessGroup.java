package ferro.group;

import ferro.Allocation;
import ferro.Backend;
import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.Medium;
import ferro.Work;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A group as one rank sees it, with every collective. This is the main class for users.
 *
 * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="join" :
 *
 * float[] gradient = {1, 2, 3};
 * try (ProcessGroup group = ProcessGroup.join()) {
 *     group.allReduce(gradient, ReduceOp.AVG); // in place: every rank has the mean
 * }
 * }
 *
 * <h2>Methods by family</h2>
 * <ul>
 * <li>Begin and end: {@link #join()}, {@link #of(Backend)}; {@link #close()}, {@link #abort}.
 * <li>The group: {@link #rank}, {@link #worldSize}, {@link #backend()}, {@link #medium}, {@link #linkReport}.
 * <li>Collectives on tensors: {@link #allReduce(ferro.Tensor, ferro.ReduceOp) allReduce},
 *     {@link #broadcast(ferro.Tensor, int) broadcast}, {@link #reduce(ferro.Tensor, ferro.ReduceOp, int) reduce},
 *     {@link #allGather(ferro.Tensor, ferro.Tensor) allGather},
 *     {@link #reduceScatter(ferro.Tensor, ferro.Tensor, ferro.ReduceOp) reduceScatter},
 *     {@link #gather(ferro.Tensor, ferro.Tensor, int) gather}, {@link #scatter(ferro.Tensor, ferro.Tensor, int) scatter},
 *     {@link #allToAll(ferro.Tensor, ferro.Tensor) allToAll}, {@link #barrier}.
 * <li>The same on arrays of primitives: {@link #allReduce(float[], ferro.ReduceOp) allReduce} and the others.
 * <li>Asynchronous forms: {@link #allReduceAsync} and the others; {@link #submit} for any {@link ferro.Collective}.
 * <li>Messages: {@link #send(ferro.Tensor, int, int) send}, {@link #recv(ferro.Tensor, int, int) recv},
 *     {@link #sendAsync}, {@link #recvAsync}.
 * <li>Several calls as one: {@link #coalesced}, {@link #coalescedAsync}; objects, by a codec: {@link #objects}.
 * <li>Other groups, views and memory: {@link #newGroup}, {@link #split}, {@link #within}, {@link #labelled},
 *     {@link #allocate}.
 * <li>Failures: {@link #failure}, {@link #lost}, {@link #onEvent}, {@link #writeFlightRecord}.
 * </ul>
 *
 * <h2>Order and threads</h2>
 * Every rank of the group calls the same collectives in the same order. Calls of one rank may come from any thread, but
 * the caller must keep their order. A blocking form runs on the calling thread and returns when this rank's result is
 * there. An asynchronous form returns without waiting for other ranks; its tensors must not be used until the work is
 * done. Each call ends by the group's deadline ({@code ferro.timeout}, 120 s) or by that of {@link #within}.
 *
 * <p>A group has one queue: a call waits for those before it, however short it is itself. What must not wait behind long
 * calls has a group of its own, made by {@link #newGroup} of the same ranks.
 *
 * <h2>Tensors</h2>
 * Lengths, counts and positions are numbers of elements. A call works in place or writes into the given tensors; it
 * allocates no result. Operand and result may alias only in the forms that work in place. In all-reduce and, on the
 * root, in reduce they may be the identical range. In all-gather and reduce-scatter and, on the root, in gather and
 * scatter, a rank's own part may lie at its place in the tensor of all parts. Any other overlap is rejected, of arrays,
 * of buffers (by their addresses) and of device tensors alike.
 *
 * <p>Device tensors go over NCCL, or through host memory if {@code ferro.gpu.fallback} allows it; else they are rejected.
 * {@link ferro.dispatch.GpuCollectives} also has forms that leave their operand unchanged.
 *
 * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="device" :
 *
 * long[] shape = {elements};
 * DeviceTensor gradient = new DeviceTensor(DataType.FLOAT32, shape, address, device, owner);
 * group.allReduce(gradient, ReduceOp.AVG); // stays on the device
 * }
 *
 * <h2>Failures</h2>
 * These are thrown before any data moves, and the group goes on:
 * <ul>
 * <li>{@link NullPointerException} if an argument is null that must not be; the message names it.
 * <li>{@link IllegalArgumentException} for lengths, types, places and memory that do not fit, and for a reduction of the
 *     caller's own that does not take the type; {@link ferro.InvalidRankException} for a root or peer that is no rank.
 * <li>{@link IllegalStateException} if the group is closed, for a blocking form in a seeded simulation, for a device tensor
 *     that is not on the device of this rank, and if the code of a reduction calls the group that runs it, which then fails.
 * <li>{@link UnsupportedOperationException} for what the back end cannot do; the message says why.
 * </ul>
 *
 * <p>What goes wrong later is a {@link FerroException}, with one of these {@linkplain FerroException#code() codes}:
 * TIMED_OUT at the deadline; PEER_LOST or PARTITION for a rank that died, left or fell silent; MISMATCH for ranks that
 * made different calls; ABORTED by a rank; INTERRUPTED for an interrupt of the waiting thread; RESOURCE, PROTOCOL or NATIVE
 * for what broke below. It fails the whole group, on every rank with the same first cause, and every later call repeats
 * it. Three kinds end only their own call, and the group goes on: of {@link #newGroup}, of a receive that no message has
 * matched, and {@link ferro.FerroTransferException} of a result that cannot be copied back to its device.
 */
public final class ProcessGroup extends TensorForms implements AutoCloseable {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend backend;
    private final GroupEnd end;
    private final CallOptions options;
    private final ProcessGroup watched;

    private ProcessGroup(GroupEnd end) {
        this(end, CallOptions.of(end.backend().timeout()), null);
    }

    private ProcessGroup(GroupEnd end, CallOptions options, ProcessGroup first) {
        super(end, options);
        this.backend = end.backend();
        this.end = end;
        this.options = options;
        this.watched = end.dropped().watched(this, first);
    }

    /**
     * Joins the group that the environment describes: rank and world size by {@code ferro.rank} and
     * {@code ferro.world.size}, else by the variables of the innermost launcher ({@link ferro.job.LauncherKind} lists
     * them in order: ferro run, torchrun, {@code RANK} and {@code WORLD_SIZE} by hand, mpirun, srun, an Indexed Job),
     * back end by {@code ferro.backend}.
     *
     * <p>If an uncaught exception ends the calling thread, such as one thrown by {@code main}, the groups that are still
     * open, this one and those made of it, are aborted with the exception before it is printed, so that the other ranks
     * learn of it. For this the thread has an {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception
     * handler} until the groups are closed; it then calls the handler that the thread had before. A group that {@code try
     * (group)} closes before the thread ends is closed and not aborted.
     *
     * @return group of this rank
     * @throws IllegalArgumentException if a setting is missing or makes no sense, or the back end cannot work here
     * @throws FerroException           RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other, another
     *     code if a rank fails meanwhile
     */
    public static ProcessGroup join() {
        return SystemContext.ofProcess().join();
    }

    /**
     * Joins a group of a given name, rank and size, with the settings of this process, as {@link #join()} does.
     *
     * @param group group to join
     * @return group of this rank
     * @throws IllegalArgumentException if a setting makes no sense, or the back end cannot work here
     * @throws FerroException           as {@link #join()}
     */
    public static ProcessGroup join(GroupSpec group) {
        return join(Objects.requireNonNull(group, "group"), SystemContext.ofProcess());
    }

    /**
     * Joins a group with a given context, as {@link #join()} does: for tests, many ranks in one JVM, and Spark.
     *
     * @param group   group to join
     * @param context settings, clock, store
     * @return group of this rank
     * @throws IllegalArgumentException if a setting makes no sense, or the back end cannot work here
     * @throws FerroException           as {@link #join()}
     */
    public static ProcessGroup join(GroupSpec group, RankContext context) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        return new ProcessGroup(GroupEnd.join(group, context));
    }

    /**
     * Wraps a back end. Call it once per plain back end and rank, because a plain back end gets its engine here.
     *
     * @param backend back end; five methods are enough
     * @return group; closing it closes the back end
     * @throws IllegalArgumentException if a setting of the engine makes no sense
     */
    public static ProcessGroup of(Backend backend) {
        return of(backend, SystemContext.ofProcess());
    }

    /**
     * Wraps a back end with a given context. The context has the settings of the engine. It also has the setting whether
     * device tensors may go through host memory, which is read on every call on device tensors.
     *
     * @param backend back end; five methods are enough
     * @param context settings, and the objects that the groups of this rank share
     * @return group; closing it closes the back end
     * @throws IllegalArgumentException if a setting of the engine makes no sense
     */
    public static ProcessGroup of(Backend backend, RankContext context) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(context, "context");
        return new ProcessGroup(GroupEnd.over(backend, context));
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
     * @return back end that this group calls
     */
    public Backend backend() {
        return backend;
    }

    /**
     * Returns the medium that carries the data of the group: shared memory, TCP, or both. Any thread may call it; it never waits.
     *
     * @return medium that the ranks found when the group was made, the same on all ranks; {@link Medium#UNKNOWN} if the
     *     back end does not report it
     */
    public Medium medium() {
        return backend.medium();
    }

    /**
     * Returns which ranks of the group share memory, what carries data between the others, and why these do not.
     *
     * @return text for people, equal on all ranks; empty if the back end does not know
     */
    public String linkReport() {
        return backend.linkReport();
    }

    /**
     * Returns a view of this group with another deadline for each call: {@code group.within(limit).barrier()}. Calls of a view
     * and of its group have one order.
     *
     * @param deadline for each call, from its start to its end; more than a century means no deadline
     * @return view; closing it closes nothing
     * @throws IllegalArgumentException if it is zero or negative
     */
    public ProcessGroup within(Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        if (deadline.isZero() || deadline.isNegative()) {
            throw new IllegalArgumentException("a deadline must be more than zero, found " + deadline);
        }
        return new ProcessGroup(end, options.within(deadline), watched);
    }

    /**
     * Returns a view of this group whose collectives and messages have a label, such as the name of a parameter. Failures,
     * recordings and events name it with the call. Ranks whose labels differ at the same place in the order get a MISMATCH with
     * both labels (over NCCL only where it hangs); messages are matched whatever their labels are. Keep a view for its calls:
     * then they allocate nothing for it. Views combine: {@code group.labelled("loss").within(limit)}; new groups have no label.
     *
     * @param label 1 to 128 characters, not blank, without quotation marks and control or format characters
     * @return view; closing it closes nothing
     * @throws IllegalArgumentException if the label is none
     */
    public ProcessGroup labelled(String label) {
        return new ProcessGroup(end, options.labelled(label), watched);
    }

    /**
     * Runs several collectives as one where possible: consecutive small all-reduces of one type and op are fused. The
     * results are bitwise the same as those of separate calls. Every rank must make the same block: other calls, or
     * another order, are a MISMATCH.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="coalesced" :
     *
     * group.coalesced(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * }
     *
     * <p>Inside the block, calls of this thread on this group (and on views of it) are checked and kept. No call runs, and no
     * result exists, before the end of the block. The end waits for all calls, with one deadline of this group for all together.
     * Handles of {@code …Async} are done then; to await one inside the block is an IllegalStateException, as are {@code split},
     * {@code newGroup} and {@code allocate}. Messages are not kept. The memory of two fused calls must not overlap. If the block
     * throws, none of its calls runs. A block inside a block belongs to the outer one.
     *
     * @param block makes the calls; what it throws is thrown unchanged
     * @throws IllegalArgumentException      if the memory of two fused calls overlaps, or a call of the block does not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do a call of the block
     * @throws FerroException                if the group fails or has failed
     */
    public void coalesced(Runnable block) {
        end.coalescing().run(Objects.requireNonNull(block, "block"), end, options.timeout());
    }

    /**
     * Does the same as {@link #coalesced} without waiting for the calls of the block, which are under way when this
     * returns. It waits only if earlier calls on device tensors go through host memory, until those have ended.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="coalescedAsync" :
     *
     * Work sums = group.coalescedAsync(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * prepareNextBatch(); // without the gradients
     * sums.await();
     * }
     *
     * <p>Handles of {@code …Async} inside the block, and of a block inside it, are done when the one returned is.
     *
     * @param block makes the calls; their tensors must not be used until the work is done
     * @return handle of all of them
     * @throws IllegalArgumentException      if the memory of two fused calls overlaps, or a call of the block does not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do a call of the block
     * @throws FerroException                if the group has failed, or fails in the wait for earlier calls
     */
    public Work coalescedAsync(Runnable block) {
        return end.coalescing().submit(Objects.requireNonNull(block, "block"), end, options.timeout());
    }

    /**
     * Makes a group of some ranks. Exactly these ranks call it, in the same order among other {@code newGroup} calls, and it
     * returns when all of them have. The new group fails and closes on its own. That a rank does not come is a failure of
     * this call only, and not of this group.
     *
     * @param ranks ranks of this group, including this one, without duplicates
     * @return new group, whose ranks are the positions in {@code ranks}
     * @throws IllegalArgumentException      if a rank stands twice, is no rank of this group
     *     ({@link ferro.InvalidRankException}), or this rank is not among them
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end makes no groups
     * @throws FerroException                TIMED_OUT or PEER_LOST if a rank does not come, MISMATCH if a rank gives another
     *     list; another code if the group has failed
     */
    public ProcessGroup newGroup(int... ranks) {
        Objects.requireNonNull(ranks, "ranks");
        Duration deadline = options.timeout();
        return new ProcessGroup(end.newGroup(ranks, deadline), CallOptions.of(deadline), null);
    }

    /**
     * Splits the group by colors: an all-gather of the whole group, then {@link #newGroup} among the ranks of one color.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="split" :
     *
     * try (ProcessGroup pair = group.split(group.rank() / 2, group.rank())) {
     *     pair.allReduce(gradient, ReduceOp.SUM);
     * }
     * }
     *
     * @param color ranks of one color form one group; negative for no group
     * @param key   order in the new group, ties by rank
     * @return new group, or null if color is negative
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end makes no groups
     * @throws FerroException                if the group fails or has failed, or a rank does not come to the new one
     */
    public ProcessGroup split(int color, int key) {
        end.coalescing().refuse("split");
        int[] all = new int[2 * worldSize()];
        allGather(HostTensor.of(new int[] {color, key}), HostTensor.of(all));
        return color < 0 ? null : newGroup(SplitMembers.of(color, all));
    }

    /**
     * Allocates a tensor in shared memory if all ranks are on one host and share memory, else in direct memory of this
     * rank, on all ranks alike; {@link Allocation#whyNotShared} says why. Collectives on a tensor in shared memory copy
     * nothing into and out of shared memory. This is a collective of the whole group.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="allocate" :
     *
     * Allocation weights = group.allocate(DataType.FLOAT32, 1000);
     * group.allReduce(weights.tensor(), ReduceOp.SUM); // copies nothing into and out of shared memory
     * }
     *
     * <p>It is meant for tensors that are used again and again, such as gradients. Fill and read it by
     * {@link HostTensor#buffer}; pass it, or a part of it by {@link HostTensor#slice} (a tensor made of a slice of its
     * buffer is a plain one), to any call of this group or of another, on some ranks or on all; only a call makes
     * elements of another rank appear in it.
     *
     * <p>The memory lives until nobody can reach it, also after {@link #close()}: who has only its address keeps the
     * {@link Allocation}. Until then, or until {@link Allocation#close}, it counts against {@code ferro.shm.bytes}. Beyond
     * that of a rank no rank shares the tensor. After a failed call on it do not use it again: {@link Allocation}.
     *
     * @param dataType     element type, the same on every rank
     * @param elementCount number of elements, the same on every rank
     * @return memory filled with zeros
     * @throws IllegalArgumentException if the count is negative, or more than one buffer holds (2 GiB)
     * @throws IllegalStateException    if the group is closed, or inside {@link #coalesced}
     * @throws FerroException           MISMATCH if ranks that share memory ask for different memory, TIMED_OUT if some of
     *     them never ask; ranks that share none do not meet. Another code if the group fails or has failed
     */
    public Allocation allocate(DataType dataType, long elementCount) {
        end.coalescing().refuse("allocate");
        return end.way().allocate(Objects.requireNonNull(dataType, "dataType"), elementCount, options.timeout());
    }

    /**
     * Returns the collectives on objects of one type: {@link GroupObjects} has an example.
     *
     * @param <T>   type of the objects
     * @param codec makes bytes of objects and objects of bytes, the same on all ranks
     * @return collectives of this group, or of this view with its deadline
     */
    public <T> GroupObjects<T> objects(Codec<T> codec) {
        return new GroupObjects<>(
                this, end.coalescing(), Objects.requireNonNull(codec, "codec"), GroupObjects.DEFAULT_LIMIT);
    }

    /**
     * Returns why the group has failed. A failed group stays failed. Any thread may call it; it never waits.
     *
     * @return empty while it works; within 100 ms of a failure the same code and culprits on all survivors that are connected
     */
    public Optional<FerroException> failure() {
        return backend.failure();
    }

    /**
     * Returns the ranks of this group that this rank knows to be dead or lost so far. Any thread may call it; it never waits.
     *
     * <p>The set continues to grow after the first failure, until this rank closes the group. A rank is in it if its process
     * has ended, if its control connection has ended without a word and it does not answer at its port, or if it was silent
     * for too long. A silent rank is removed when something arrives from it. Ranks that closed the group normally are not in
     * the set, nor are ranks that live and are blamed, such as for changed bytes. Ranks learn of a death at different times:
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="lost" :
     *
     * List<Integer> left = IntStream.range(0, group.worldSize())
     *         .filter(rank -> !group.lost().contains(rank))
     *         .boxed()
     *         .toList();
     * }
     *
     * @return ranks, ascending, as an immutable snapshot; empty if the back end does not know
     */
    public Set<Integer> lost() {
        return backend.lost();
    }

    /**
     * Adds a listener for the events of the group. It receives them in order, on a thread of ferro that makes no progress on
     * links, and may call the group. If it is added after the failure it receives that.
     *
     * @param listener receives events of ranks that fall silent, come back, stand still or are late, and the failure
     */
    public void onEvent(Consumer<GroupEvent> listener) {
        backend.onEvent(Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Writes the contents of this rank's flight recorder: the last operations, those in flight and the ranks that they
     * wait for, of this group and of all others of the rank. {@code ./ferro analyze} merges the files of all ranks; a
     * failure writes them automatically if {@code ferro.recorder.dir} is set.
     *
     * @param folder folder, made if it does not exist
     * @return the file written, {@code ferro-JOB-rankR.json}; replaces the one that this group has written before, and
     *     takes another name beside one of another recorder
     * @throws IOException                   if it cannot be written
     * @throws IllegalStateException         if recording is off by {@code ferro.recorder.entries=0}
     * @throws UnsupportedOperationException if the back end records nothing
     */
    public Path writeFlightRecord(Path folder) throws IOException {
        return backend.writeFlightRecord(Objects.requireNonNull(folder, "folder"));
    }

    /**
     * Fails all pending and later calls, on all ranks. Any thread may call it; idempotent. The first cause is kept: once
     * this rank knows of a failure ({@link #failure}), its abort changes nothing.
     *
     * @param cause reason; null if there is none
     */
    public void abort(Throwable cause) {
        backend.abort(cause);
    }

    /**
     * Ends the group within a bound: waits for queued work, sends a goodbye, then aborts the remaining work. Any thread may
     * call it; idempotent. The close of a view ({@link #within}, {@link #labelled}) does nothing. A group that is garbage
     * collected without a close stays open, because a close tells the other ranks; one WARNING says where it was joined.
     *
     * @param bound maximum time, 250 ms of it for the last messages; zero or less aborts unfinished work at once
     * @throws IllegalStateException if the code of a reduction calls it
     * @throws FerroException        MISMATCH if ranks made different calls and no call of this rank has told it yet
     */
    public void close(Duration bound) {
        Objects.requireNonNull(bound, "bound");
        if (watched == this) {
            end.close(bound, this);
        }
    }

    /**
     * Ends the group within 5 s, as {@link #close(Duration)} does.
     *
     * @throws IllegalStateException if the code of a reduction calls it
     * @throws FerroException        MISMATCH if ranks made different calls and no call of this rank has told it yet
     */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }
}

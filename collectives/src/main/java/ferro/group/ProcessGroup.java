package ferro.group;

import ferro.Allocation;
import ferro.Backend;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.Medium;
import ferro.Work;
import ferro.control.membership.Hashing;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

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
 * <li>Begin and end: {@link #join()}, {@link #join(JoinOptions)}, {@link #of(Backend)}; {@link #close()}, {@link #abort}.
 * <li>The group: {@link #rank}, {@link #worldSize}, {@link #generation}, {@link #backend()}, {@link #medium},
 *     {@link #linkReport}.
 * <li>Collectives on tensors: {@link #allReduce(ferro.Tensor, ferro.ReduceOp) allReduce},
 *     {@link #broadcast(ferro.Tensor, int) broadcast}, {@link #reduce(ferro.Tensor, ferro.ReduceOp, int) reduce},
 *     {@link #allGather(ferro.Tensor, ferro.Tensor) allGather},
 *     {@link #reduceScatter(ferro.Tensor, ferro.Tensor, ferro.ReduceOp) reduceScatter},
 *     {@link #gather(ferro.Tensor, ferro.Tensor, int) gather}, {@link #scatter(ferro.Tensor, ferro.Tensor, int) scatter},
 *     {@link #allToAll(ferro.Tensor, ferro.Tensor) allToAll}, {@link #scan(ferro.Tensor, ferro.ReduceOp) scan},
 *     {@link #exclusiveScan(ferro.Tensor, ferro.ReduceOp) exclusiveScan}, {@link #barrier}.
 * <li>Collectives on arrays of primitives: {@link #allReduce(float[], ferro.ReduceOp) allReduce} and other methods.
 * <li>Parts of unequal length: {@link #allGather(ferro.Tensor, ferro.Tensor, long[]) allGather with counts} and other
 *     methods.
 * <li>Asynchronous forms of all collectives: {@link #allReduceAsync} and other methods; {@link #submit} for any
 *     {@link ferro.Collective}.
 * <li>Messages: {@link #send(ferro.Tensor, int, int) send}, {@link #recv(ferro.Tensor, int, int) recv},
 *     {@link #recvUpTo recvUpTo} for shorter messages, {@link #sendAsync}, {@link #recvAsync}.
 * <li>Several calls run as one: {@link #coalesced}, {@link #coalescedAsync}; objects encoded by a codec: {@link #objects}.
 * <li>Other groups, views, memory: {@link #newGroup}, {@link #split}, {@link #splitByHost}, {@link #hosts}, {@link #within},
 *     {@link #labelled}, {@link #allocate}.
 * <li>Failures: {@link #failure}, {@link #lost}, {@link #onEvent}, {@link #writeFlightRecord}.
 * </ul>
 *
 * <h2>Order and threads</h2>
 * Every rank of the group calls the same collectives in the same order. Calls of one rank may come from any thread, but
 * the caller must keep their order. A blocking form of a call runs on the calling thread and returns when this rank has
 * its result. An asynchronous form returns without waiting for other ranks. Tensors and arrays of an asynchronous form
 * must not be used until the work is done. Each call has the deadline of the group ({@code ferro.timeout}, 120 s) or
 * the deadline of {@link #within}.
 *
 * <p>A group has one queue: even a short call waits for all calls before it. For calls that must not wait for long
 * calls, make a second group of the same ranks by {@link #newGroup}.
 *
 * <h2>Tensors</h2>
 * Lengths, counts and positions are numbers of elements. A call writes its result into a tensor of the caller and
 * allocates no tensor. Operand and result may share memory only in two cases. In an all-reduce or scan, and on the root
 * of a reduce, operand and result may be the same range. In an all-gather or reduce-scatter, and on the root of a
 * gather or scatter, a rank's own tensor may be its part of the tensor of all parts. Any other overlap of arrays, of
 * buffers (by their addresses) or of device tensors is rejected.
 *
 * <p>Device tensors go over NCCL, or through host memory if {@code ferro.gpu.fallback} allows this route. Otherwise
 * device tensors are rejected. {@link ferro.dispatch.GpuCollectives} also has forms that leave their operand unchanged.
 *
 * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="device" :
 *
 * long[] shape = {elements};
 * DeviceTensor gradient = new DeviceTensor(DataType.FLOAT32, shape, address, device, owner);
 * group.allReduce(gradient, ReduceOp.AVG); // stays on the device
 * }
 *
 * <h2>Failures</h2>
 * The following exceptions are thrown before any data moves, and the group continues:
 * <ul>
 * <li>{@link NullPointerException} if an argument is null that must not be null; the message names the argument.
 * <li>{@link IllegalArgumentException} for lengths, types, positions or memory that do not fit, and for a user-defined reduction
 *     of another element type; {@link ferro.InvalidRankException} for a root or peer that is not a rank of the group.
 * <li>{@link IllegalStateException} if the group is closed, if the owner of
 *     {@linkplain ferro.ForeignMemory foreign memory} has freed the memory of a tensor, for a blocking form in a seeded
 *     simulation, and for a device tensor that is not on the device of this rank. A reduction that calls its own group
 *     gets an IllegalStateException and fails the group.
 * <li>{@link UnsupportedOperationException} for a call that the back end does not support; the message says why.
 * </ul>
 *
 * <p>Later failures are thrown as a {@link FerroException} with a {@linkplain FerroException#code() code}. TIMED_OUT
 * means that the deadline passed. PEER_LOST or PARTITION means that a rank died, left or fell silent. MISMATCH means
 * that ranks made different calls, such as with different lengths. ABORTED means that a rank aborted the group, or that
 * the owner of a tensor's memory freed the memory during a call. INTERRUPTED means that the waiting thread was
 * interrupted, and RESOURCE that memory or descriptors ran out. PROTOCOL means that a peer sent invalid frames, and
 * NATIVE that a native library failed. The failure ends the group on all ranks with the same first cause, and every
 * later call throws the failure again. The following failures end only their own call: a failed {@link #newGroup}, the
 * deadline or an interrupt of a receive that no message has matched, and a {@link ferro.FerroTransferException} for a
 * result that cannot be copied back to its device.
 */
public final class ProcessGroup extends CallForms implements AutoCloseable {
    /**
     * A value that a receive has in place of a rank. A receive with this value takes a message of any rank, including
     * this rank. The {@link ferro.MessageStatus} has the rank that sent the message.
     */
    public static final int ANY_SOURCE = CollectiveBackend.ANY_SOURCE;

    /**
     * A value that a receive has in place of a tag. A receive with this value takes a message with any tag. The
     * {@link ferro.MessageStatus} has the tag.
     */
    public static final int ANY_TAG = CollectiveBackend.ANY_TAG;

    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend backend;
    private final GroupCore end;
    private final CallOptions options;
    private final ProcessGroup watched;

    ProcessGroup(GroupCore end) {
        this(end, CallOptions.of(end.inForce(end.backend().timeout())), null);
    }

    private ProcessGroup(GroupCore end, CallOptions options, ProcessGroup first) {
        super(end, options);
        this.backend = end.backend();
        this.end = end;
        this.options = options;
        this.watched = end.dropped().watched(this, first);
    }

    /**
     * Joins the group that the environment describes. Rank and world size come from {@code ferro.rank} and
     * {@code ferro.world.size}, else from the variables of the innermost launcher. {@link ferro.job.LauncherKind} lists the
     * launchers in order: ferro run, torchrun, {@code RANK} and {@code WORLD_SIZE} by hand, mpirun, srun, an Indexed Job.
     * {@code ferro.backend} selects the back end.
     *
     * <p>An uncaught exception that ends the calling thread, such as one thrown by {@code main}, aborts this group and
     * the groups made of this group if the groups are open. The other ranks receive the exception as the cause, before
     * the exception is printed. For this abort, the thread has an
     * {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception handler} until the groups are closed. After
     * the abort, this handler calls the handler that the thread had before. A group that {@code try (group)} closes
     * first is not aborted.
     *
     * @return group of this rank
     * @throws IllegalArgumentException if a setting is missing or invalid, or the back end cannot work in this process
     * @throws FerroException           RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other; another code
     *     if a rank fails during the join
     */
    public static ProcessGroup join() {
        return join(JoinOptions.ofProcess());
    }

    /**
     * Joins the group that options describe: rank, number of ranks, name of the group, store and settings. A setting that the
     * options do not name comes from the process.
     *
     * {@snippet file="ferro/examples/snippets/JoinOptionsSnippetsTest.java" region="join" :
     *
     * JoinOptions options =
     *         JoinOptions.of(rank, worldSize).storeAt("10.0.0.1:29500").secret(secret);
     * try (ProcessGroup group = ProcessGroup.join(options)) {
     *     group.allReduce(gradient, ReduceOp.AVG);
     * }
     * }
     *
     * <p>The group owns the objects that the join opens: connections, threads and, on a rank that serves the store, the
     * store. Closing the group ends the objects that the join has opened. If groups that were made of the group are
     * still open, closing the last open group ends these objects. A join that fails leaves nothing open. A store that
     * {@link JoinOptions#store} was given stays open.
     *
     * <p>Each call joins separately. A process may join several groups, also as several ranks, if the names of the groups or the
     * ranks differ. An interrupt of the calling thread ends the join early. An uncaught exception that ends the calling thread
     * aborts the group, as described at {@link #join()}.
     *
     * @param options rank, number of ranks, store and settings
     * @return group of this rank
     * @throws IllegalArgumentException if a setting is missing or invalid, or the back end cannot work in this process
     * @throws FerroException           in the same cases as {@link #join()}
     */
    public static ProcessGroup join(JoinOptions options) {
        Objects.requireNonNull(options, "options");
        return SystemContext.joined(options, SystemContext::join);
    }

    /**
     * Wraps a back end. Call this method only once for each rank of a plain back end, because each call makes an engine
     * for the rank. {@link Groups} has the forms with a context, for implementers.
     *
     * @param backend back end; the five methods of {@link Backend} are enough
     * @return group; closing the group closes the back end
     * @throws IllegalArgumentException if a setting of the engine is invalid
     */
    public static ProcessGroup of(Backend backend) {
        return Groups.of(backend, SystemContext.ofProcess());
    }

    /** {@return this rank, from 0} */
    public int rank() {
        return backend.rank();
    }

    /** {@return the number of ranks, at least 1} */
    public int worldSize() {
        return backend.worldSize();
    }

    /**
     * Returns how often the job has been started again. A group made of this group has the same generation. Under
     * torchrun on several nodes the number may differ between nodes, because each agent counts its own restarts.
     *
     * @return 0 at the first start, or if nothing restarts the job; otherwise {@code FERRO_GENERATION}, or the number of
     *     {@link JoinOptions#job}, or the number that torchrun, Slurm or a JobSet counts
     * @throws IllegalArgumentException if {@code FERRO_GENERATION} is not a number from 0
     */
    public int generation() {
        return end.generation();
    }

    /** {@return the back end that this group calls} */
    public Backend backend() {
        return backend;
    }

    /**
     * {@return the medium that carries the data of the group: shared memory, TCP, or both; {@link Medium#UNKNOWN} if
     * the back end does not report the medium} The ranks found the medium when the group was made, and the medium is
     * the same on all ranks. Thread-safe; never waits.
     */
    public Medium medium() {
        return backend.medium();
    }

    /**
     * {@return which ranks of the group share memory, what carries data between the other ranks, and why the other
     * ranks share no memory; a text to read, equal on all ranks; empty if the back end reports no text}
     */
    public String linkReport() {
        return backend.linkReport();
    }

    /**
     * {@return the deadline of each call of this group or view, from the start to the end of the call: {@code
     * ferro.timeout}, or the deadline of {@link #within}; more than a century means no deadline}
     */
    public Duration timeout() {
        return options.timeout();
    }

    /**
     * Returns a view of this group with another deadline for each call: {@code group.within(limit).barrier()}. Calls of a view
     * and of its group have one order.
     *
     * @param deadline time limit of each call, from its start to its end; more than a century means no deadline, and so
     *     does any deadline if {@code ferro.debug} is on
     * @return view; closing the view closes nothing
     * @throws IllegalArgumentException if the deadline is zero or negative
     */
    public ProcessGroup within(Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        if (deadline.isZero() || deadline.isNegative()) {
            throw new IllegalArgumentException("a timeout must be more than zero, found " + deadline);
        }
        return new ProcessGroup(end, options.within(end.inForce(deadline)), watched);
    }

    /**
     * Returns a view of this group whose collectives and messages have a label, such as the name of a parameter.
     * Failures, recordings and events name the label with the call. If ranks give different labels to the same call,
     * the call fails with MISMATCH and both labels (over NCCL only if the call hangs). Messages match even if their
     * labels differ. Use one view for many calls, so that a call allocates nothing for the label. A view of a view has
     * a label and a deadline: {@code group.labelled("loss").within(limit)}. New groups have no label.
     *
     * @param label 1 to 128 characters, not blank, without quotation marks and control or format characters
     * @return view; closing the view closes nothing
     * @throws IllegalArgumentException if the label is blank, has more than 128 characters, or contains a forbidden
     *     character
     */
    public ProcessGroup labelled(String label) {
        return new ProcessGroup(end, options.labelled(label), watched);
    }

    /**
     * Makes a group of some ranks of this group. Exactly the ranks in {@code ranks} must call this method, in the same
     * order relative to other {@code newGroup} calls. The call returns when all ranks of the new group have made the
     * call. The new group fails and closes independently of this group. If a rank does not make the call in time, only
     * this call fails.
     *
     * @param ranks ranks of this group, including this rank, without duplicates
     * @return new group, whose ranks are the positions in {@code ranks}
     * @throws IllegalArgumentException      if {@code ranks} has a rank twice, has a number that is not a rank of this
     *     group ({@link ferro.InvalidRankException}), or lacks this rank
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end cannot make groups
     * @throws FerroException                TIMED_OUT or PEER_LOST if a rank does not make the call, MISMATCH if a rank gives
     *     another list; another code if the group has failed
     */
    public ProcessGroup newGroup(int... ranks) {
        Objects.requireNonNull(ranks, "ranks");
        Duration deadline = options.timeout();
        return new ProcessGroup(end.newGroup(ranks, deadline), CallOptions.of(deadline), null);
    }

    /**
     * Splits the group by colors. All ranks gather all colors and keys, and the ranks of each color then call {@link
     * #newGroup}.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="split" :
     *
     * int pair = group.rank() / 2; // not negative, so every rank gets a group
     * try (ProcessGroup both = group.split(pair, group.rank()).orElseThrow()) {
     *     both.allReduce(gradient, ReduceOp.SUM);
     * }
     * }
     *
     * @param color ranks of one color form one group; negative for no group
     * @param key   order in the new group; ranks with equal keys are ordered by rank
     * @return new group; empty if {@code color} is negative
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end cannot make groups
     * @throws FerroException                if the group fails or has failed, or a rank does not join the new group
     */
    public Optional<ProcessGroup> split(int color, int key) {
        end.coalescing().refuse("split");
        int[] all = new int[2 * end.backend().worldSize()];
        allGather(HostTensor.of(new int[] {color, key}), HostTensor.of(all));
        return color < 0 ? Optional.empty() : Optional.of(newGroup(members(color, all)));
    }

    /** Returns the ranks of a color, ordered by key, ties by rank; {@code all} has a color and a key for each rank. */
    private static int[] members(int color, int... all) {
        return IntStream.range(0, all.length / 2)
                .filter(rank -> all[2 * rank] == color)
                .boxed()
                .sorted(Comparator.comparingInt((Integer rank) -> all[2 * rank + 1])
                        .thenComparingInt(rank -> rank))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /**
     * Makes a group of the ranks that are on the host of this rank. All ranks gather their hosts, and the ranks of each
     * host then call {@link #newGroup}. Ranks are on one host if they have the same {@code ferro.host}. Without this
     * setting, ranks are on one host if they have the same boot of the same kernel and the same host name, so two
     * containers are two hosts.
     *
     * @return new group, in the order of the ranks of this group
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end cannot make groups, or the host of a rank is unknown
     *     because its system is not Linux and {@code ferro.host} is not set
     * @throws FerroException                if the group fails or has failed, or a rank does not join the new group
     */
    public ProcessGroup splitByHost() {
        long[] hosts = gatheredHosts("splitByHost");
        long own = hosts[end.backend().rank()];
        return newGroup(ranks(hosts, rank -> hosts[rank] == own));
    }

    /**
     * Makes a group of the lowest rank of each host. All ranks gather their hosts as {@link #splitByHost} does, and the
     * lowest ranks then call {@link #newGroup}. A program sums in the group of each host first, then among the hosts.
     *
     * @return new group, in the order of the ranks of this group; empty on all other ranks
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException in the same cases as {@link #splitByHost}
     * @throws FerroException                if the group fails or has failed, or a rank does not join the new group
     */
    public Optional<ProcessGroup> hosts() {
        long[] hosts = gatheredHosts("hosts");
        IntPredicate isFirst = rank -> IntStream.range(0, rank).noneMatch(lower -> hosts[lower] == hosts[rank]);
        return isFirst.test(end.backend().rank()) ? Optional.of(newGroup(ranks(hosts, isFirst))) : Optional.empty();
    }

    private static int[] ranks(long[] hosts, IntPredicate chosen) {
        return IntStream.range(0, hosts.length).filter(chosen).toArray();
    }

    /** Returns a number for the host of each rank; equal numbers stand for one host. */
    private long[] gatheredHosts(String what) {
        end.coalescing().refuse(what);
        String name = Settings.HOST
                .find(end.context())
                .map("name "::concat)
                .orElseGet(() -> end.context().processes().machine());
        // 0 stands for an unknown host
        long own = name.isEmpty() ? 0 : Hashing.of(name) | 1;
        long[] all = new long[end.backend().worldSize()];
        allGather(HostTensor.of(new long[] {own}), HostTensor.of(all));
        for (int rank = 0; rank < all.length; rank++) {
            if (all[rank] == 0) {
                throw new UnsupportedOperationException(what + " of " + all.length + " ranks: rank " + rank
                        + " does not know its host, because its system is not Linux: set ferro.host on each rank");
            }
        }
        return all;
    }

    /**
     * Runs several collectives as one where possible. Consecutive small all-reduces of one type and op are fused. The
     * results have the same bits as the results of separate calls. Every rank must make the same calls in its block, in
     * the same order; a difference is a MISMATCH.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="coalesced" :
     *
     * group.coalesced(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * }
     *
     * <p>Inside the block, calls of this thread on this group and on its views are checked and kept. No call runs, and
     * no result exists, before the end of the block. At the end of the block, this method waits for all calls, with one
     * deadline of this group for all calls together. Handles of {@code …Async} calls are done when this method returns.
     * Awaiting the handle of a kept call inside the block throws an IllegalStateException, as {@code split},
     * {@code newGroup} and {@code allocate} do. The memory of two fused calls must not overlap. If the block throws,
     * none of its calls runs. Calls of a nested block belong to the outer block.
     *
     * <p>Messages are kept too. Sends and receives of the block start together at the end of the block, in their order,
     * after the collectives of the block. So ranks that first send and then receive in a block do not wait for each
     * other:
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="blockOfMessages" :
     *
     * group.coalesced(() -> {
     *     group.send(own, next, 0);
     *     group.recvAsync(received, previous, 0);
     * });
     * }
     *
     * <p>{@code recv}, {@code recvUpTo}, {@code probe}, {@code match} and {@code sendReceive} throw an
     * IllegalStateException inside the block, because these methods return a message that has come. Back ends of five
     * methods and NCCL run the messages one after another.
     *
     * @param block makes the calls; its exceptions are thrown unchanged
     * @throws IllegalArgumentException      if the memory of two fused calls overlaps, or a call of the block does not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do a call of the block
     * @throws FerroException                if the group fails or has failed
     */
    public void coalesced(Runnable block) {
        end.coalescing().run(Objects.requireNonNull(block, "block"), end, options.timeout());
    }

    /**
     * Does the same as {@link #coalesced}, but only starts the calls of the block and does not wait for them. This method waits
     * only for earlier calls on device tensors that go through host memory, until those calls have ended.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="coalescedAsync" :
     *
     * Work sums = group.coalescedAsync(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * prepareNextBatch(); // without the gradients
     * sums.await();
     * }
     *
     * <p>Handles of {@code …Async} calls inside the block or a nested block are done when the returned handle is done.
     *
     * @param block makes the calls; their tensors must not be used until the work is done
     * @return handle of all calls of the block
     * @throws IllegalArgumentException      if the memory of two fused calls overlaps, or a call of the block does not fit
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end cannot do a call of the block
     * @throws FerroException                if the group has failed, or fails during the wait for earlier calls
     */
    public Work coalescedAsync(Runnable block) {
        return end.coalescing().submit(Objects.requireNonNull(block, "block"), end, options.timeout());
    }

    /**
     * Allocates a tensor in shared memory if all ranks are on one host and share memory. Otherwise every rank gets
     * direct memory of its own, and {@link Allocation#whyNotShared} returns the reason. Collectives on a tensor in
     * shared memory copy nothing into and out of shared memory. All ranks of the group must call this method, as a
     * collective.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="allocate" :
     *
     * Allocation weights = group.allocate(DataType.FLOAT32, 1000);
     * group.allReduce(weights.tensor(), ReduceOp.SUM); // copies nothing into and out of shared memory
     * }
     *
     * <p>Use this memory for tensors of many calls, such as gradients. Fill and read the tensor by
     * {@link HostTensor#buffer}. Any call of this group or of another group takes the tensor, or a part made by
     * {@link HostTensor#slice}, on some ranks or on all. A tensor made from a slice of the allocated buffer is a plain
     * tensor. Only a call writes other ranks' elements to the tensor.
     *
     * <p>The memory of an allocation lives until it is unreachable, even after {@link #close()}. Code that has only the
     * address of the memory must keep the {@link Allocation}. The memory counts against {@code ferro.shm.bytes} until
     * it is unreachable or until {@link Allocation#close}. If the tensor exceeds {@code ferro.shm.bytes} on one rank,
     * no rank shares the tensor. Do not use the memory after a failed call on the tensor.
     *
     * @param dataType     element type, the same on every rank
     * @param elementCount number of elements, the same on every rank
     * @return memory filled with zeros
     * @throws IllegalArgumentException if the count is negative, or more than one buffer holds (2 GiB)
     * @throws IllegalStateException    if the group is closed, or inside {@link #coalesced}
     * @throws FerroException MISMATCH if ranks that share memory request different types or counts, TIMED_OUT if some
     *     ranks never call; ranks that share no memory do not wait for each other. Another code if the group fails or
     *     has failed
     */
    public Allocation allocate(DataType dataType, long elementCount) {
        end.coalescing().refuse("allocate");
        return end.way().allocate(Objects.requireNonNull(dataType, "dataType"), elementCount, options.timeout());
    }

    /**
     * Returns the collectives on objects of one type; {@link GroupObjects} has an example. The calls have the label of
     * this view, or else the label {@code call on objects}.
     *
     * @param <T>   type of the objects
     * @param codec converts objects to bytes and back; the same on all ranks
     * @return collectives of this group, or of this view with its deadline
     */
    public <T> GroupObjects<T> objects(Codec<T> codec) {
        ProcessGroup named = options.label().isEmpty() ? labelled("call on objects") : this;
        return new GroupObjects<>(
                named,
                end.coalescing(),
                Objects.requireNonNull(codec, "codec"),
                GroupObjects.DEFAULT_LIMIT,
                byte[]::new);
    }

    /**
     * {@return why the group has failed; empty while the group works} A failed group stays failed. 100 ms after a
     * failure, this method returns the same code and culprits on all connected surviving ranks. Thread-safe; never
     * waits.
     */
    public Optional<FerroException> failure() {
        return backend.failure();
    }

    /**
     * Returns the ranks of this group that this rank has found to be dead or lost. Thread-safe; never waits.
     *
     * <p>The set of lost ranks continues to grow after the first failure, until this rank closes the group. A rank is
     * in the set if the process of the rank has ended or if the rank was silent for too long. A rank is in the set,
     * too, if its control connection ended without a goodbye and the rank does not respond at its port. A silent rank
     * is removed from the set when data arrives from the silent rank. Ranks that closed the group normally are not in
     * the set. Live ranks that are blamed, such as for changed bytes, are not in the set. A rank that PEER_LOST blames
     * as dead is in the set before a call throws, and before {@link #failure} and the event FAILED show the loss.
     * Different ranks detect a death at different times:
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="lost" :
     *
     * List<Integer> left = IntStream.range(0, group.worldSize())
     *         .filter(rank -> !group.lost().contains(rank))
     *         .boxed()
     *         .toList();
     * }
     *
     * @return ranks, ascending, as an immutable snapshot; empty if the back end does not detect lost ranks
     */
    public Set<Integer> lost() {
        return backend.lost();
    }

    /**
     * Returns how many calls of each kind this rank has made in this group, how many bytes this rank contributed, and
     * how long the calls took. Thread-safe; never waits. Views of the group have the same counters. A group made of
     * this group has its own counters.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="counters" :
     *
     * CallCounters before = group.counters();
     * group.allReduce(gradient, ReduceOp.SUM);
     * CallCounters.Totals sums = group.counters().minus(before).of(CollectiveKind.ALL_REDUCE);
     * System.out.println(sums.calls() + " all-reduces, " + sums.bytes() + " bytes, " + sums.time());
     * }
     *
     * <p>{@link #split}, {@link #allocate} and {@link #objects} count as the calls that they make. Over NCCL, raw calls of
     * {@link ferro.NcclBackend} are not counted. A device tensor that goes through host memory counts as the calls of its pieces.
     *
     * @return counters of this moment; {@link CallCounters} says which calls count
     * @throws UnsupportedOperationException if the back end counts nothing
     */
    public CallCounters counters() {
        return backend.counters();
    }

    /**
     * Adds a listener for the events of the group. The listener receives events in order, on a thread of ferro that makes no
     * progress on links, and may call the group. A listener that is added after the failure receives the failure.
     *
     * @param listener receives an event if a rank falls silent, sends again, was paused or is late, and if the group fails
     */
    public void onEvent(Consumer<GroupEvent> listener) {
        backend.onEvent(Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Writes the contents of this rank's flight recorder for all groups of the rank: the last operations, the operations in
     * flight and the ranks that they wait for. {@code ./ferro analyze} merges the files of all ranks; a failure writes
     * these files automatically if {@code ferro.recorder.dir} is set.
     *
     * @param folder folder, made if it does not exist
     * @return the written file, {@code ferro-JOB-rankR.json}; the file replaces the earlier file of this group, and has
     *     another name if another recorder has a file of this name
     * @throws IOException                   if the file cannot be written
     * @throws IllegalStateException         if recording is off by {@code ferro.recorder.entries=0}
     * @throws UnsupportedOperationException if the back end records nothing
     */
    public Path writeFlightRecord(Path folder) throws IOException {
        return backend.writeFlightRecord(Objects.requireNonNull(folder, "folder"));
    }

    /**
     * Fails all pending and later calls, on all ranks. Thread-safe and idempotent. If ranks abort several times, the
     * first cause is kept. Once {@link #failure} returns a failure on this rank, an abort of this rank changes nothing.
     *
     * @param cause reason; null without a reason
     */
    public void abort(Throwable cause) {
        backend.abort(cause);
    }

    /**
     * Ends the group within a time limit: waits for queued work, sends a goodbye, then aborts the remaining work. Thread-safe and
     * idempotent. The close of a view ({@link #within}, {@link #labelled}) does nothing. A group that is garbage collected
     * without a close stays open, because a close sends a goodbye to the other ranks. One WARNING names the code that joined.
     *
     * @param bound maximum time, of which 250 ms are for the last messages; zero or less aborts unfinished work at
     *     once; no limit if {@code ferro.debug} is on
     * @throws IllegalStateException if the code of a reduction calls this method
     * @throws FerroException        MISMATCH if ranks made different calls and no call of this rank has thrown the
     *     mismatch yet
     */
    public void close(Duration bound) {
        Objects.requireNonNull(bound, "bound");
        if (watched == this) {
            end.close(end.inForce(bound), this);
        }
    }

    /**
     * Ends the group within 5 s, as {@link #close(Duration)} does.
     *
     * @throws IllegalStateException if the code of a reduction calls this method
     * @throws FerroException        MISMATCH if ranks made different calls and no call of this rank has thrown the
     *     mismatch yet
     */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }
}

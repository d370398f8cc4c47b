package ferro.group;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.Medium;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.recorder.FlightRecorder;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A group as one rank sees it, with every collective. This is the main class for users.
 *
 * <p>Every rank of the group calls the same collectives in the same order; calls of one rank may come from any thread,
 * but the caller must keep their order. Blocking calls run on the calling thread, work in place or into the given
 * tensors, and end by the group's deadline ({@code ferro.timeout}, 120 s) or by that of {@link #within}. Each call has
 * forms for {@code float[] double[] int[] long[] short[] byte[]} and {@link ferro.Tensor}. Device tensors go over NCCL,
 * or through host memory if {@code ferro.gpu.fallback} allows it; else they are rejected
 * ({@link ferro.dispatch.GpuCollectives}, which also has forms that leave their operand unchanged).
 *
 * <p>Operand and result of one call may alias only in the forms that work in place. In all-reduce and, on the root, in
 * reduce they may be the identical range. In all-gather and reduce-scatter and, on the root, in gather and scatter, a
 * rank's own part may lie at its place in the tensor of all parts. Any other overlap is rejected with
 * {@link IllegalArgumentException}, of arrays, of buffers (by their addresses) and of device tensors alike.
 *
 * <p>Failures: bad shapes, types and ranks are {@link IllegalArgumentException} ({@link ferro.InvalidRankException}). A
 * call that the back end does not support is {@link UnsupportedOperationException}. A null that is not allowed is a
 * {@link NullPointerException} that names the argument. All of these are thrown before any data moves. A later failure is
 * a {@link ferro.FerroException}, which fails the whole group on every rank.
 */
public final class ProcessGroup extends TensorForms implements AutoCloseable {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final CollectiveBackend backend;
    private final GroupEnd end;
    private final Duration timeout;
    private final boolean view;

    private ProcessGroup(GroupEnd end, Duration timeout, boolean view) {
        super(end, timeout);
        this.backend = end.backend();
        this.end = end;
        this.timeout = timeout;
        this.view = view;
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
     * @param group group to join
     * @return group of this rank
     * @throws IllegalArgumentException if a setting makes no sense
     * @throws ferro.FerroException     RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other
     */
    public static ProcessGroup join(GroupSpec group) {
        return join(Objects.requireNonNull(group, "group"), SystemContext.ofProcess());
    }

    /**
     * Joins a group with a given context: for tests, many ranks in one JVM, and Spark.
     *
     * @param group   group to join
     * @param context settings, clock, store
     * @return group of this rank
     * @throws IllegalArgumentException if a setting makes no sense, or no back end of the name chosen can work
     * @throws ferro.FerroException     RENDEZVOUS, UNAUTHENTICATED or PROTOCOL if the ranks do not find each other
     */
    public static ProcessGroup join(GroupSpec group, RankContext context) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        UnknownSettings.tellOnce(context);
        JobLine.tellOnce(group, context);
        // a folder of the recorder that cannot be written is reported before anything is opened
        FlightRecorder.of(context, group);
        try {
            CollectiveBackend whole = whole(BackendSelection.open(group, context), context);
            return new ProcessGroup(GroupEnd.of(whole, context, JoiningThread.joined(whole)), whole.timeout(), false);
        } finally {
            FlightRecorder.release(context);
        }
    }

    /**
     * Wraps a back end. Call it once per plain back end and rank, because a plain back end gets its engine here.
     *
     * @param backend back end; five methods are enough
     * @return group; closing it closes the back end
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
     */
    public static ProcessGroup of(Backend backend, RankContext context) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(context, "context");
        CollectiveBackend whole = whole(backend, context);
        return new ProcessGroup(GroupEnd.of(whole, context, null), whole.timeout(), false);
    }

    private static CollectiveBackend whole(Backend backend, RankContext context) {
        return backend instanceof CollectiveBackend collective ? collective : CollectiveEngine.over(backend, context);
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
     * Returns a view of this group with another default deadline. This is the only way to give a call its own deadline.
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
        return new ProcessGroup(end, deadline, true);
    }

    /**
     * Runs several collectives as one where possible: consecutive small all-reduces of one type and op are fused. The
     * results are bitwise the same as those of separate calls. Every rank must make the same block: other calls, or
     * another order, are a MISMATCH.
     *
     * <p>Inside the block, calls of this thread on this group (and on views of it) are checked and kept. No call runs,
     * and no result exists, before the end of the block. The end waits for all calls, with one deadline of this group for
     * all together. Handles of {@code …Async} are done then; to await one inside the block is an IllegalStateException,
     * as are {@code split}, {@code newGroup} and {@code allocate}. Messages are not kept. The memory of two fused calls
     * must not overlap. If the block throws, none of its calls runs. A block inside a block belongs to the outer one.
     *
     * @param block makes the calls
     * @throws IllegalArgumentException if the memory of two fused calls overlaps
     */
    public void coalesced(Runnable block) {
        end.coalescing().run(Objects.requireNonNull(block, "block"), end, timeout);
    }

    /**
     * Does the same as {@link #coalesced} without waiting for the calls of the block, which are under way when this
     * returns. It waits only if earlier calls on device tensors go through host memory, until those have ended.
     *
     * <pre>{@code
     * Work sums = group.coalescedAsync(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * prepareNextBatch();
     * sums.await();
     * }</pre>
     *
     * <p>Handles of {@code …Async} inside the block are done when the one returned is. A block inside a block belongs to
     * the outer one; its handle is then done when the outer block is.
     *
     * @param block makes the calls; their tensors must not be used until the work is done
     * @return handle of all of them
     * @throws IllegalArgumentException if the memory of two fused calls overlaps
     * @throws ferro.FerroException     if the group has failed before
     */
    public Work coalescedAsync(Runnable block) {
        return end.coalescing().submit(Objects.requireNonNull(block, "block"), end, timeout);
    }

    /**
     * Makes a group of some ranks; called by exactly them, in the same order among other {@code newGroup} calls.
     *
     * @param ranks ranks of this group, including this one, without duplicates
     * @return new group, whose ranks are the positions in {@code ranks}
     */
    public ProcessGroup newGroup(int... ranks) {
        Objects.requireNonNull(ranks, "ranks");
        end.coalescing().refuse("newGroup");
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
        if (end.joined() != null) {
            end.joined().opened(child);
        }
        return new ProcessGroup(GroupEnd.of(child, end.context(), end.joined()), timeout, false);
    }

    /**
     * Splits the group. This is a collective of the whole group.
     *
     * @param color ranks of one color form one group; negative for no group
     * @param key   order in the new group, ties by rank
     * @return new group, or null if color is negative
     */
    public ProcessGroup split(int color, int key) {
        end.coalescing().refuse("split");
        int[] all = new int[2 * worldSize()];
        allGather(HostTensor.of(new int[] {color, key}), HostTensor.of(all));
        return color < 0 ? null : newGroup(SplitMembers.of(color, all));
    }

    /**
     * Allocates a tensor in shared memory if all ranks are on one host and share memory, else in direct memory of this
     * rank. Collectives on a tensor in shared memory copy nothing into and out of shared memory. This is a collective of
     * the whole group.
     *
     * <p>It is meant for tensors that are used again and again, such as gradients. Fill and read it by
     * {@link HostTensor#buffer}; pass it, or a part of it by {@link HostTensor#slice} (a tensor made of a slice of its
     * buffer is a plain one), to any call of this group or of another, on some ranks or on all; only a call makes
     * elements of another rank appear in it. Its memory counts against {@code ferro.shm.bytes} and is released with the
     * group: after {@link #close} an access to shared elements throws an {@link IllegalStateException} (JDK 22 and newer)
     * or ends the process (older).
     *
     * @param dataType     element type, the same on every rank
     * @param elementCount number of elements, the same on every rank
     * @return tensor filled with zeros
     * @throws IllegalArgumentException if the count is negative, or more than one buffer holds (2 GiB)
     * @throws ferro.FerroException     MISMATCH if ranks that share memory ask for different memory, TIMED_OUT if some of
     *     them never ask; ranks that share none do not meet
     */
    public HostTensor allocate(DataType dataType, long elementCount) {
        Objects.requireNonNull(dataType, "dataType");
        end.coalescing().refuse("allocate");
        return end.way().allocate(dataType, elementCount, timeout);
    }

    /**
     * Returns which ranks of the group share memory, and why the others do not; equal on all ranks.
     *
     * @return text for people; empty if the back end does not know
     */
    public String linkReport() {
        return backend.linkReport();
    }

    /**
     * Returns the medium that carries the data of the group: shared memory, TCP, or both. Any thread may call it; it
     * never waits.
     *
     * @return medium that the ranks found when the group was made, the same on all ranks; {@link Medium#UNKNOWN} if the
     *     back end does not report it
     */
    public Medium medium() {
        return backend.medium();
    }

    /**
     * Returns why the group has failed. A failed group stays failed.
     *
     * @return empty while it works; within 100 ms of a failure equal on all survivors that can reach each other: the same
     *     code and the same ranks to blame
     */
    public Optional<FerroException> failure() {
        return backend.failure();
    }

    /**
     * Returns the ranks of this group that this rank knows to be dead or lost so far. Any thread may call it; it never
     * waits.
     *
     * <p>The set continues to grow after the first failure, until this rank closes the group. A rank is in it if its
     * process has ended, if its connection is gone, or if it was silent for too long. Only a silent rank is removed
     * again, when something arrives from it. Ranks that closed the group normally are not in the set, nor are those that
     * a failure blames for something else. Ranks may learn of a death at different times, some milliseconds apart:
     *
     * <pre>{@code
     * List<Integer> left = IntStream.range(0, group.worldSize())
     *         .filter(rank -> !group.lost().contains(rank))
     *         .boxed()
     *         .toList();
     * }</pre>
     *
     * @return ranks, ascending, as an immutable snapshot; empty if the back end does not know
     */
    public Set<Integer> lost() {
        return backend.lost();
    }

    /**
     * Adds a listener for the events of the group. It receives them in order, on a thread of ferro that makes no progress
     * on links, and may call the group. A listener that is added after the failure receives the failure.
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
     * @throws IllegalStateException if recording is off by {@code ferro.recorder.entries=0}
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
     * Ends the group within a bound: waits for queued work, sends a goodbye, then aborts the remaining work.
     *
     * @param bound maximum time; zero or less aborts unfinished work at once
     */
    public void close(Duration bound) {
        Objects.requireNonNull(bound, "bound");
        if (view) {
            return;
        }
        try {
            end.way().close(bound);
        } finally {
            if (end.joined() != null) {
                end.joined().closed(backend);
            }
        }
    }

    /** Ends the group within 5 s. */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }
}

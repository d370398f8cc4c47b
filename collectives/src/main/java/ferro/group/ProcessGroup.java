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
 * The front door: one rank's end of a group, with every collective.
 *
 * <p>Every rank of the group calls the same collectives in the same order; calls of one rank may come from any thread,
 * but their order is the caller's to keep. Blocking calls run on the calling thread, work in place or into the tensors
 * given, and end by the group's deadline ({@code ferro.timeout}, 120 s) or the one of {@link #within}. Each has forms for
 * {@code float[] double[] int[] long[] short[] byte[]} and {@link ferro.Tensor}. Device tensors go over NCCL, or through host memory
 * if {@code ferro.gpu.fallback} allows it, else nowhere ({@link ferro.dispatch.GpuCollectives}, which also has forms that leave
 * their operand as it is).
 *
 * <p>Operand and result of one call may share memory only in the forms that work in place: the identical range in all-reduce
 * and, on the root, reduce; a rank's own part, at its place in the tensor of all parts, in all-gather and reduce-scatter and, on the
 * root, gather and scatter. Any other overlap is refused with {@link IllegalArgumentException}, of arrays, of buffers (by their
 * addresses) and of device tensors alike.
 *
 * <p>Failures: bad shapes, types and ranks are {@link IllegalArgumentException} ({@link ferro.InvalidRankException}), what a back
 * end cannot do is {@link UnsupportedOperationException}, null that is not allowed is a {@link NullPointerException} that names the
 * argument, all of them before anything moves. What goes wrong under way is
 * {@link ferro.FerroException}, which fails the whole group on every rank.
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
     * Joins the group that the environment describes: rank and world size by {@code ferro.rank} and {@code ferro.world.size},
     * else by the variables of the innermost launcher ({@link ferro.job.Family} has them in order: ferro run, torchrun,
     * {@code RANK} and {@code WORLD_SIZE} by hand, mpirun, srun, an Indexed Job), back end by {@code ferro.backend}.
     *
     * <p>If an exception that nobody catches ends the calling thread, such as one out of {@code main}, while this group or one
     * made of it is open, these are aborted with it before it is printed, so that the other ranks hear of it. For that the
     * thread has an {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception handler} until they are closed, which
     * passes on to the one that it had. A group that {@code try (group)} closes on the way is closed, and not aborted.
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
        return join(Objects.requireNonNull(group, "group"), SystemContext.ofProcess());
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
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        UnknownSettings.tellOnce(context);
        JobLine.tellOnce(group, context);
        // a folder of the recorder that cannot be written is told before anything is opened
        FlightRecorder.of(context, group);
        try {
            CollectiveBackend whole = whole(BackendSelection.open(group, context), context);
            return new ProcessGroup(GroupEnd.of(whole, context, JoiningThread.joined(whole)), whole.timeout(), false);
        } finally {
            FlightRecorder.release(context);
        }
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
     * @return the one that this group calls
     */
    public Backend backend() {
        return backend;
    }

    /**
     * Returns a view of this group with another default deadline; the one way to give a call its own.
     *
     * @param deadline for each call, from its start to its end; more than a century is none
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
     * Runs several collectives as one where they can be: small all-reduces of one type and op, one after the other, travel
     * together. Results have the bits that the calls would have alone, and every rank must make the same block: one that makes
     * other calls, or in another order, is a MISMATCH.
     *
     * <p>Inside, calls of this thread on this group (and on views of it) are checked and kept; none has run, and no result is
     * there, before the block's end, which waits for all of them, with this group's deadline for all together. Handles of
     * {@code …Async} are done then; awaiting one inside is an IllegalStateException, as are {@code split}, {@code newGroup} and
     * {@code allocate}. Messages are not kept. Two joined calls must not touch the same memory. If the block throws, none of its calls
     * runs. A block inside a block belongs to the outer one.
     *
     * @param block makes the calls
     * @throws IllegalArgumentException if two joined calls touch the same memory
     */
    public void coalesced(Runnable block) {
        end.coalescing().run(Objects.requireNonNull(block, "block"), end, timeout);
    }

    /**
     * As {@link #coalesced}, without waiting for the calls of the block: they are under way when this returns. It waits only where
     * calls on device tensors go through host memory before them, until these have ended.
     *
     * <pre>{@code
     * Work sums = group.coalescedAsync(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
     * prepareNextBatch();
     * sums.await();
     * }</pre>
     *
     * <p>Handles of {@code …Async} inside the block are done when the one returned is. A block inside a block belongs to the outer
     * one: what is returned then ends with that.
     *
     * @param block makes the calls, whose tensors are not to be touched until the work is done
     * @return handle of all of them
     * @throws IllegalArgumentException if two joined calls touch the same memory
     * @throws ferro.FerroException     if the group has failed before
     */
    public Work coalescedAsync(Runnable block) {
        return end.coalescing().submit(Objects.requireNonNull(block, "block"), end, timeout);
    }

    /**
     * Makes a group of some ranks; called by exactly them, in the same order among other {@code newGroup} calls.
     *
     * @param ranks ranks of this group, this one among them, none twice
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
     * Splits; a collective of the whole group.
     *
     * @param color same color, same group; negative for none
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
     * Makes a tensor whose elements the ranks share where all are on one host and share memory, else one in direct memory of
     * this rank's own: collectives on the first kind copy nothing into and out of shared memory. A collective of the whole group.
     *
     * <p>Made for what is used again and again, such as gradients. Fill and read it by {@link HostTensor#buffer}; pass it, or a
     * part of it by {@link HostTensor#slice} (a tensor made of a slice of its buffer is a plain one), to any call of this group or
     * of another, on some ranks or on all; elements of another rank never show in it
     * but by a call. Its memory counts against {@code ferro.shm.bytes} and ends with the group: after {@link #close} whoever
     * touches shared elements gets an {@link IllegalStateException} (JDK 22 and newer) or ends the process (older).
     *
     * @param dataType     element type, the same on every rank
     * @param elementCount elements, as many on every rank
     * @return all zero
     * @throws IllegalArgumentException if the count is negative, or more than one buffer holds (2 GiB)
     * @throws ferro.FerroException     MISMATCH if ranks ask for different memory, TIMED_OUT if some never ask
     */
    public HostTensor allocate(DataType dataType, long elementCount) {
        Objects.requireNonNull(dataType, "dataType");
        end.coalescing().refuse("allocate");
        return end.way().allocate(dataType, elementCount, timeout);
    }

    /**
     * Says which ranks of the group share memory, and why the others do not; equal on all ranks.
     *
     * @return text for people; empty where the back end does not know
     */
    public String linkReport() {
        return backend.linkReport();
    }

    /**
     * Says what carries the data of the group: shared memory, TCP, or both; any thread, waits for nothing.
     *
     * @return what the ranks found when the group was made, the same on all of them; {@link Medium#UNKNOWN} where the back end does
     *     not say
     */
    public Medium medium() {
        return backend.medium();
    }

    /**
     * Returns why the group has failed; it stays failed.
     *
     * @return empty while it works; within 100 ms of a failure equal on all survivors that can reach each other: the same
     *     code and the same ranks to blame
     */
    public Optional<FerroException> failure() {
        return backend.failure();
    }

    /**
     * Returns the ranks of this group that are known here to be dead or lost so far; any thread may call, it waits for nothing.
     *
     * <p>It goes on to grow after the first failure, as long as this end of the group is open: a process that has ended with
     * all its ranks, a connection that is gone, a rank that was silent for too long. Only such a silent rank leaves it again,
     * when it is heard of. Ranks that closed the group in good order are not in it, nor are those that a failure blames for
     * something else. Ranks may hear of a death at different times, some milliseconds apart:
     *
     * <pre>{@code
     * List<Integer> left = IntStream.range(0, group.worldSize())
     *         .filter(rank -> !group.lost().contains(rank))
     *         .boxed()
     *         .toList();
     * }</pre>
     *
     * @return ranks, ascending; immutable, one call's answer does not change; empty where the back end does not know
     */
    public Set<Integer> lost() {
        return backend.lost();
    }

    /**
     * Adds a listener of what happens to the group; it is told on a thread of ferro's that drives no links, in order, and may
     * call the group. A listener that is added after the failure hears of the failure.
     *
     * @param listener hears of ranks that fall silent, come back, stand still, are late, and of the failure
     */
    public void onEvent(Consumer<GroupEvent> listener) {
        backend.onEvent(Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Writes what the flight recorder of this rank holds: its last operations, those in flight and whom they wait for, of this
     * group and of all others of the rank. {@code ./ferro analyze} merges the files of all ranks; a failure writes them by
     * itself where {@code ferro.recorder.dir} is set.
     *
     * @param folder made if it is not there
     * @return the file written, {@code ferro-JOB-rankR.json}; one that was there is replaced
     * @throws IOException                   if it cannot be written
     * @throws IllegalStateException         if there is no recorder, by {@code ferro.recorder.entries=0}
     * @throws UnsupportedOperationException if the back end records nothing
     */
    public Path writeFlightRecord(Path folder) throws IOException {
        return backend.writeFlightRecord(Objects.requireNonNull(folder, "folder"));
    }

    /**
     * Fails everything pending and later, on all ranks; any thread, idempotent. The first cause wins: once this rank knows of a
     * failure ({@link #failure}), its abort changes nothing.
     *
     * @param cause why; null if there is none to give
     */
    public void abort(Throwable cause) {
        backend.abort(cause);
    }

    /**
     * Ends the group within a bound: waits for queued work, says goodbye, then aborts what is left.
     *
     * @param bound how long at most; zero or less aborts at once what has not ended
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

package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.queue.AbortableComm;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.backend.nccl.queue.DeviceThread;
import ferro.backend.nccl.queue.EventPool;
import ferro.backend.nccl.queue.NcclOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The core of {@link NcclRankComm}, {@link NcclComms} and the back end: one communicator, or the communicators of
 * several devices that one thread calls. This class adds deadlines, abort and a close that ends within limited time.
 *
 * <p>Any thread may call. All native calls are made on the {@link DeviceThread}, one after the other. A caller submits
 * a call and waits. A waiting caller regularly polls NCCL's state of the communicator, because the device thread may be
 * stuck. If a call passes its deadline, or its caller is interrupted, the communicator is aborted. The communicator
 * cannot be used after this, because the other ranks may still wait for the call.
 */
final class Communicator implements AbortableComm, AutoCloseable {
    private static final long LOOK_NANOS = 10_000_000;
    /** How long to wait for a call to return after an abort. */
    private static final Duration AFTER_ABORT = Duration.ofSeconds(5);

    private static final Duration CLOSE_BOUND = Duration.ofSeconds(10);

    private final DeviceThread thread;
    private final List<CommHandle> members;
    private final List<EventPool> events = new ArrayList<>();
    private final boolean nonBlocking;
    private final LongSupplier clock;
    private final AtomicBoolean closing = new AtomicBoolean();
    /** Streams that this communicator owns; used by the device thread only. */
    private final List<CudaStream> ownStreams = new ArrayList<>();
    /** Number of open NCCL groups on the device thread; used by this thread only. */
    private int groupDepth;
    /** Calls whose streams have not finished; used by the device thread only. */
    private int watchedCalls;

    /**
     * Takes ownership of communicators.
     *
     * @param thread      thread that makes all calls of the communicators; closing the communicators ends the thread
     * @param members     one communicator, or the communicators of a group in rank order
     * @param nonBlocking whether calls return {@code ncclInProgress} instead of blocking
     * @param clock       nanoseconds, monotonic
     */
    Communicator(DeviceThread thread, List<CommHandle> members, boolean nonBlocking, LongSupplier clock) {
        this.thread = thread;
        this.members = List.copyOf(members);
        this.nonBlocking = nonBlocking;
        this.clock = clock;
        members.forEach(member -> events.add(new EventPool()));
    }

    /**
     * Makes the native calls of one member. An implementation must pass each result code to {@link
     * ResultChecker#begun}.
     */
    @FunctionalInterface
    interface MemberCaller {
        /** Makes the calls of a member, by its index, on the device thread with the member's device current. */
        void make(int member, long comm);
    }

    /**
     * Native calls that are submitted together.
     *
     * @param operation operation in failures
     * @param grouped   whether the calls must be in an NCCL group, because there are several native calls
     * @param calls     native calls
     * @param streams   one stream for each member, polled until the stream has finished the calls; null if the batch
     *     ends when NCCL has accepted the calls
     */
    record NativeBatch(NcclOperation operation, boolean grouped, MemberCaller calls, long[] streams) {}

    List<CommHandle> members() {
        return members;
    }

    /** Returns the handle of the first member, which is the only member except in a group of devices. */
    CommHandle handle() {
        return members.get(0);
    }

    @Override
    public CommIdentity identity() {
        return handle().identity();
    }

    @Override
    public DeviceThread thread() {
        return thread;
    }

    @Override
    public Deadline deadline(Duration timeout) {
        return Deadline.after(timeout, clock);
    }

    /**
     * Submits a batch without waiting. If the caller is on the device thread, inside an NCCL group, the calls are made
     * at once.
     *
     * @return call, for {@link #await}
     * @throws FerroException        ABORTED, or NATIVE with the first failure as its cause
     * @throws IllegalStateException if the communicator is closed
     */
    DeviceCall<Void> start(NativeBatch batch) {
        checkUsable(batch.operation());
        return thread.submit(new CommTask(this, batch));
    }

    /** Throws the exception that {@link #start} throws for an aborted, broken or closed communicator. */
    void checkUsable(NcclOperation operation) {
        for (CommHandle member : members) {
            RuntimeException refusal = member.refusal(operation);
            if (refusal != null) {
                throw refusal;
            }
        }
    }

    /**
     * Submits a batch and waits until the streams have finished it. If the batch has no streams, waits until NCCL has
     * accepted it.
     *
     * @throws FerroException TIMED_OUT, INTERRUPTED or ABORTED, after which the communicator cannot be used; or NATIVE
     */
    void run(NativeBatch batch, Deadline deadline) {
        await(start(batch), batch.operation(), deadline);
    }

    /** Waits for a call; see {@link #run}. */
    <T> T await(DeviceCall<T> call, NcclOperation operation, Deadline deadline) {
        try {
            while (!call.awaitNanos(LOOK_NANOS)) {
                lookAround(call, operation, deadline);
            }
            return call.result();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw giveUp(call, operation, deadline, e);
        }
    }

    private void lookAround(DeviceCall<?> call, NcclOperation operation, Deadline deadline) {
        CommHandle aborted = abortedMember();
        if (aborted != null) {
            if (call.awaitQuietly(deadline(AFTER_ABORT))) {
                return;
            }
            throw aborted.aborted(operation, null);
        }
        Optional<FerroException> failure = asyncFailure(operation);
        if (failure.isPresent()) {
            call.awaitQuietly(deadline(AFTER_ABORT));
            throw failure.get();
        }
        if (deadline.passed() && !call.isEnded()) {
            throw giveUp(call, operation, deadline, null);
        }
    }

    private FerroException giveUp(DeviceCall<?> call, NcclOperation operation, Deadline deadline, Exception interrupt) {
        String late = ": a rank is late, gone, or made another call";
        String wayOut = "; the communicator is aborted, join again";
        FerroException failure = cutOff(identity(), operation, deadline, late, wayOut, interrupt);
        call.drop(failure);
        abort(failure.getMessage());
        call.awaitQuietly(deadline(AFTER_ABORT));
        return failure;
    }

    /** Creates the failure of an operation that was interrupted, or timed out if {@code interrupt} is null. */
    static FerroException cutOff(
            CommIdentity identity,
            NcclOperation operation,
            Deadline deadline,
            String late,
            String wayOut,
            Exception interrupt) {
        String what = interrupt == null
                ? " timed out after " + deadline.lengthMillis() + " ms" + late
                : " was interrupted after " + deadline.elapsedNanos() / 1_000_000 + " ms";
        return new FerroException(
                interrupt == null ? Code.TIMED_OUT : Code.INTERRUPTED,
                identity.where(operation, deadline.elapsedNanos()),
                identity.during(operation) + what + wayOut,
                interrupt);
    }

    /**
     * Polls NCCL for asynchronous failures, from any thread. The first fatal failure makes the communicator unusable,
     * which begins an abort. The failure names {@code operation}.
     */
    @Override
    public Optional<FerroException> asyncFailure(NcclOperation operation) {
        for (CommHandle member : members) {
            NcclResult state = member.asyncError();
            if (isFatal(state)) {
                FerroException failure = during(
                        operation, member.identity(), ResultChecker.failure(state.code(), "ncclCommGetAsyncError"));
                members.forEach(each -> each.breakBy(failure));
                return Optional.of(failure);
            }
        }
        return Optional.empty();
    }

    @Override
    public void abortAndWait(String why) {
        abort(why);
        members.forEach(CommHandle::freeByAbort);
    }

    @Override
    public boolean isAborted() {
        return abortedMember() != null;
    }

    @Override
    public boolean isAbortOver() {
        return handle().isAbortOver();
    }

    @Override
    public Optional<Throwable> abortFailure() {
        return handle().abortFailure();
    }

    /** Aborts every member, from any thread but the device thread; see {@link CommHandle#abort}. */
    void abort(String why) {
        members.forEach(member -> member.abort(why));
    }

    /** Creates an object, such as a stream, on the device thread with the device of the single member current. */
    <T> T make(Supplier<T> made, Deadline deadline) {
        DeviceCall<T> call = thread.submit(() -> {
            thread.use(handle().identity().device());
            return made.get();
        });
        return await(call, NcclOperation.PREPARE, deadline);
    }

    /** Creates a stream that this communicator owns. The communicator's close waits for the stream and closes it. */
    CudaStream makeStream(Deadline deadline) {
        return make(() -> own(CudaStream.create(handle().identity().device())), deadline);
    }

    /**
     * Takes ownership of a stream, on the device thread. The communicator's close waits for the stream and frees it.
     */
    CudaStream own(CudaStream stream) {
        ownStreams.add(stream);
        return stream;
    }

    /** Waits until the stream of each member has finished the work that is queued on the stream now. */
    void synchronize(long[] streams, Deadline deadline) {
        run(new NativeBatch(NcclOperation.SYNCHRONIZE, false, (member, comm) -> {}, streams), deadline);
    }

    /**
     * Creates a new thread and a new {@code Communicator} for every member. After this call, this communicator cannot
     * be used, even if the call fails. Returns the new communicators in the order of the members.
     */
    List<Communicator> split(Deadline deadline) {
        closing.set(true);
        List<Communicator> parts = new ArrayList<>();
        try {
            for (CommHandle member : members) {
                DeviceThread own = new DeviceThread(member.identity().threadName("nccl"), clock);
                Communicator part = new Communicator(own, List.of(member), nonBlocking, clock);
                parts.add(part);
                DeviceCall<Void> begun = own.submit(() -> {
                    own.use(member.identity().device());
                    return null;
                });
                part.await(begun, NcclOperation.SPLIT, deadline);
            }
        } catch (RuntimeException | Error e) {
            parts.forEach(Communicator::close);
            abort("its group could not be split: " + e.getMessage());
            throw e;
        } finally {
            new CommCloser(this, deadline(CLOSE_BOUND)).release();
        }
        return parts;
    }

    /** Closes within about ten seconds; see {@link #close(Duration)}. */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }

    /**
     * Waits for the streams, finalizes and frees the communicators, then frees the streams that they own, then ends the
     * thread. If other ranks delay a step beyond the bound, the communicators are aborted. Failures are logged, never
     * thrown. Idempotent.
     */
    void close(Duration bound) {
        if (closing.compareAndSet(false, true)) {
            new CommCloser(this, deadline(bound)).run();
        }
    }

    // the methods below are for tasks on the device thread

    boolean nonBlocking() {
        return nonBlocking;
    }

    /** Returns whether NCCL has accepted all calls so far. Until then, a non-blocking communicator must not be used. */
    boolean hasTaken() {
        return !nonBlocking || isSettled();
    }

    /**
     * Returns whether no member has a call in progress.
     *
     * @throws NcclException if a call of a member has failed
     */
    boolean isSettled() {
        for (CommHandle member : members) {
            NcclResult state = member.asyncError();
            if (state.equals(NcclResult.IN_PROGRESS)) {
                return false;
            }
            ResultChecker.nccl(state.code(), "ncclCommGetAsyncError");
        }
        return true;
    }

    /**
     * Makes calls in one NCCL group, and always closes the group. NCCL counts open groups per thread, and a group that
     * was not closed would delay all later calls of the thread for ever.
     */
    static void grouped(Runnable calls) {
        ResultChecker.nccl(Nccl.ncclGroupStart(), "ncclGroupStart");
        boolean called = false;
        try {
            calls.run();
            called = true;
        } finally {
            int end = Nccl.ncclGroupEnd();
            if (called) {
                ResultChecker.begun(end, "ncclGroupEnd");
            }
        }
    }

    EventPool events(int member) {
        return events.get(member);
    }

    List<CudaStream> ownStreams() {
        return ownStreams;
    }

    long addressOf(int member) {
        return members.get(member).address();
    }

    void watchBegun() {
        watchedCalls++;
    }

    void watchEnded() {
        watchedCalls--;
    }

    boolean watchesNothing() {
        return watchedCalls == 0;
    }

    void groupOpened() {
        groupDepth++;
    }

    void groupClosed() {
        groupDepth--;
    }

    boolean insideGroup() {
        return groupDepth > 0;
    }

    CommHandle abortedMember() {
        for (CommHandle member : members) {
            if (member.isAborted()) {
                return member;
            }
        }
        return null;
    }

    /** Returns whether every abort that has begun has ended. */
    boolean abortsAreOver() {
        return members.stream().noneMatch(member -> member.isAborted() && !member.isAbortOver());
    }

    /**
     * Returns whether a result is fatal. Only an invalid argument is not fatal, because NCCL refuses it before any
     * communication. After every other failure the ranks are in different states.
     */
    static boolean isFatal(NcclResult result) {
        return !result.equals(NcclResult.SUCCESS)
                && !result.equals(NcclResult.IN_PROGRESS)
                && !result.equals(NcclResult.INVALID_ARGUMENT);
    }

    /**
     * Adds the name of an operation to a native failure. A failure of a call inside an NCCL group already has one and
     * is returned unchanged.
     */
    static FerroException during(NcclOperation operation, CommIdentity identity, FerroException failure) {
        if (!failure.where().operation().isEmpty()) {
            return failure;
        }
        String name = identity.during(operation) + ": " + operation.failing();
        if (failure instanceof NcclException nccl) {
            return nccl.during(identity.where(operation, 0), name);
        }
        return failure instanceof CudaException cuda ? cuda.during(identity.where(operation, 0), name) : failure;
    }
}

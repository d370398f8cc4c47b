package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The core under {@link NcclRankComm}, {@link NcclComms} and the back end: one communicator, or those of several devices that
 * one thread drives, with deadlines, abort and a close that ends.
 *
 * <p>Any thread may call. All native calls are made on the {@link DeviceThread}, one after the other; a caller hands over
 * and waits. Meanwhile it asks NCCL now and then how the communicator is, since the device thread may be the one that is
 * stuck. A call that passes its deadline, or whose caller is interrupted, aborts: its place in the order is lost, and the
 * other ranks may be waiting for it.
 */
final class Communicator implements AutoCloseable {
    private static final long LOOK_NANOS = 10_000_000;
    /** For a call that was cut off to come back. */
    private static final Duration AFTER_ABORT = Duration.ofSeconds(5);

    private static final Duration CLOSE_BOUND = Duration.ofSeconds(10);

    private final DeviceThread thread;
    private final List<CommHandle> members;
    private final List<EventPool> events = new ArrayList<>();
    private final boolean nonBlocking;
    private final LongSupplier clock;
    private final AtomicBoolean closing = new AtomicBoolean();
    /** Only the thread touches it. */
    private final List<CudaStream> ownStreams = new ArrayList<>();
    /** Only the thread touches it. */
    private int groupDepth;
    /** Calls whose streams have not passed; only the thread touches it. */
    private int watchedCalls;

    /**
     * Takes over communicators.
     *
     * @param thread      makes all their calls, and ends with them
     * @param members     one, or those of a group in the order of its ranks
     * @param nonBlocking whether they answer {@code ncclInProgress} instead of waiting
     * @param clock       nanoseconds, monotonic
     */
    Communicator(DeviceThread thread, List<CommHandle> members, boolean nonBlocking, LongSupplier clock) {
        this.thread = thread;
        this.members = List.copyOf(members);
        this.nonBlocking = nonBlocking;
        this.clock = clock;
        members.forEach(member -> events.add(new EventPool()));
    }

    /** Native calls of one member; each result code goes through {@link #accept}. */
    @FunctionalInterface
    interface Calls {
        /**
         * Makes them, on the device thread with the member's device current.
         *
         * @param member place in the list of members
         * @param comm   ncclComm_t
         */
        void make(int member, long comm);
    }

    /**
     * What is handed over together.
     *
     * @param operation for failures
     * @param grouped   whether it needs an NCCL group: as soon as there is more than one native call
     * @param calls     native calls
     * @param streams   one per member, to be watched until they have passed the calls; null to be done with handing over
     */
    record Batch(NcclOperation operation, boolean grouped, Calls calls, long[] streams) {}

    List<CommHandle> members() {
        return members;
    }

    /** Returns the handle where there is one member. */
    CommHandle handle() {
        return members.get(0);
    }

    DeviceThread thread() {
        return thread;
    }

    Deadline deadline(Duration timeout) {
        return Deadline.after(timeout, clock);
    }

    /**
     * Hands over without waiting; on the device thread itself, inside a group, it is made at once.
     *
     * @return call, for {@link #await}
     * @throws FerroException        ABORTED, or NATIVE with the first failure as its cause
     * @throws IllegalStateException if it is closed
     */
    DeviceCall<Void> start(Batch batch) {
        checkUsable(batch.operation());
        return thread.submit(new CommTask(this, batch));
    }

    /** Throws what {@link #start} would for an aborted, broken or closed communicator. */
    void checkUsable(NcclOperation operation) {
        for (CommHandle member : members) {
            RuntimeException refusal = member.refusal(operation);
            if (refusal != null) {
                throw refusal;
            }
        }
    }

    /**
     * Hands over and waits: until the streams have passed, or, without streams, until NCCL has taken the calls.
     *
     * @throws FerroException TIMED_OUT, INTERRUPTED, ABORTED or NATIVE; the communicator is of no use after the first three
     */
    void run(Batch batch, Deadline deadline) {
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
        CommPlace place = handle().place();
        String what = interrupt == null
                ? " timed out after " + deadline.lengthMillis() + " ms: a rank is late, gone, or made another call"
                : " was interrupted after " + deadline.elapsedNanos() / 1_000_000 + " ms";
        FerroException failure = new FerroException(
                interrupt == null ? Code.TIMED_OUT : Code.INTERRUPTED,
                place.where(operation, deadline.elapsedNanos()),
                place.during(operation) + what + "; the communicator is aborted, join again",
                interrupt);
        call.drop(failure);
        abort(failure.getMessage());
        call.awaitQuietly(deadline(AFTER_ABORT));
        return failure;
    }

    /**
     * Asks NCCL for failures that came after a call, from any thread; the first fatal one breaks the communicator, and with
     * that begins to abort it.
     *
     * @return failure, named after {@code operation}
     */
    Optional<FerroException> asyncFailure(NcclOperation operation) {
        for (CommHandle member : members) {
            NcclResult state = member.asyncError();
            if (isFatal(state)) {
                FerroException failure =
                        during(operation, member.place(), Checks.failure(state.code(), "ncclCommGetAsyncError"));
                members.forEach(each -> each.breakBy(failure));
                return Optional.of(failure);
            }
        }
        return Optional.empty();
    }

    /** Aborts every member, from any thread but the device thread; see {@link CommHandle#abort}. */
    void abort(String why) {
        members.forEach(member -> member.abort(why));
    }

    /**
     * Makes something on the device thread with the device of the one member current, for example a stream.
     *
     * @param made runs there; what it throws is thrown here
     */
    <T> T make(Supplier<T> made, Deadline deadline) {
        DeviceCall<T> call = thread.submit(() -> {
            thread.use(handle().place().device());
            return made.get();
        });
        return await(call, NcclOperation.PREPARE, deadline);
    }

    /** Makes a stream of our own, which ends with the communicator and is waited for by its close. */
    CudaStream makeStream(Deadline deadline) {
        return make(() -> own(CudaStream.create(handle().place().device())), deadline);
    }

    /** Takes over a stream, on the device thread: it is waited for by the close, and closed after the communicator. */
    CudaStream own(CudaStream stream) {
        ownStreams.add(stream);
        return stream;
    }

    /** Waits until each member's stream has passed what it holds now. */
    void synchronize(long[] streams, Deadline deadline) {
        run(new Batch(NcclOperation.SYNCHRONIZE, false, (member, comm) -> {}, streams), deadline);
    }

    /**
     * Gives every member a thread and a communicator of its own; this one is spent, whatever comes.
     *
     * @return in the order of the members
     */
    List<Communicator> split(Deadline deadline) {
        closing.set(true);
        List<Communicator> parts = new ArrayList<>();
        try {
            for (CommHandle member : members) {
                DeviceThread own = new DeviceThread(member.place().threadName("nccl"), clock);
                Communicator part = new Communicator(own, List.of(member), nonBlocking, clock);
                parts.add(part);
                DeviceCall<Void> begun = own.submit(() -> {
                    own.use(member.place().device());
                    return null;
                });
                part.await(begun, NcclOperation.SPLIT, deadline);
            }
        } catch (RuntimeException | Error e) {
            parts.forEach(Communicator::close);
            abort("its group could not be split: " + e.getMessage());
            throw e;
        } finally {
            new CommClosing(this, deadline(CLOSE_BOUND)).release();
        }
        return parts;
    }

    /** Closes within about ten seconds; see {@link #close(Duration)}. */
    @Override
    public void close() {
        close(CLOSE_BOUND);
    }

    /**
     * Waits for the own or the default stream, lets NCCL finish, frees the communicators, then the own streams, then the
     * thread. What takes longer than the bound is aborted; failures are logged, never thrown. Idempotent.
     *
     * @param bound for what the other ranks can hold up
     */
    void close(Duration bound) {
        if (closing.compareAndSet(false, true)) {
            new CommClosing(this, deadline(bound)).run();
        }
    }

    // what follows is for tasks on the thread

    boolean nonBlocking() {
        return nonBlocking;
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

    /** Returns whether every abort that has begun has come to its end. */
    boolean abortsAreOver() {
        for (CommHandle member : members) {
            if (member.isAborted() && !member.isAbortOver()) {
                return false;
            }
        }
        return true;
    }

    /** Checks a call on a communicator: one that does not block may say that it is still at it. */
    static void accept(int result, String call) {
        if (result != NcclResult.IN_PROGRESS.code()) {
            Checks.nccl(result, call);
        }
    }

    /** NCCL refuses a bad argument before anything moves; every other failure leaves the ranks apart. */
    static boolean isFatal(NcclResult result) {
        return !result.equals(NcclResult.SUCCESS)
                && !result.equals(NcclResult.IN_PROGRESS)
                && !result.equals(NcclResult.INVALID_ARGUMENT);
    }

    /** Returns a native failure as part of an operation; one that has a place already, from inside a group, as it is. */
    static FerroException during(NcclOperation operation, CommPlace place, FerroException failure) {
        if (!failure.where().operation().isEmpty()) {
            return failure;
        }
        String name = place.during(operation) + ": " + operation.failing();
        if (failure instanceof NcclException nccl) {
            return nccl.during(place.where(operation, 0), name);
        }
        return failure instanceof CudaException cuda ? cuda.during(place.where(operation, 0), name) : failure;
    }
}

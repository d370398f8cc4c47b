package ferro.backend.nccl.queue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureFactory;
import ferro.control.group.CompletionThreads;
import ferro.control.group.GroupControl;
import ferro.spi.Listeners;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * The failure of a group on this rank. The ranks agree on the cause by {@link GroupControl} before any caller of this
 * rank receives the failure. After this agreement, operations that have not begun end at once. The {@link Watchdog}
 * aborts the communicator, so that running operations also return. Later calls fail with the same failure.
 */
public final class GroupFailureState {
    /**
     * How long to wait until streams have finished after an abort. The earlier wait for the abort itself takes at most
     * ten seconds.
     */
    private static final Duration AFTER_ABORT = Duration.ofSeconds(3);

    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);
    /** How long to wait until the ranks know which rank is lost, if NCCL does not report the lost rank. */
    private static final Duration VERDICT_BOUND = Duration.ofMillis(250);
    /**
     * How long to wait until the ranks have compared their calls. The time is long, because without the result, NATIVE
     * would blame a rank that has done nothing wrong. The full time passes only if NCCL has refused a call although the
     * ranks' calls are equal.
     */
    private static final Duration COMPARE_BOUND = Duration.ofSeconds(2);
    /**
     * Number of calls that have already ended and are also compared. NCCL may accept a call that differs between ranks,
     * and refuse a later call. Each compared call delays the failure on all ranks.
     */
    private static final int COMPARED_ENDED = 4;
    /**
     * Maximum number of compared calls. A rank may be ahead of the rank whose call NCCL has refused, by at most this
     * number of calls.
     */
    private static final int COMPARED_CALLS = 64;

    private final PendingWorks pending;
    private final AbortableComm comm;
    private final GroupControl control;
    private final CompletionThreads threads;
    private final Runnable wakeWatchdog;
    private final Listeners listeners;
    /** Counted down when the ranks have agreed on a failure. */
    private final CountDownLatch known = new CountDownLatch(1);

    private final CountDownLatch settled = new CountDownLatch(1);
    private volatile NcclRecorder recording;

    private volatile boolean drained;
    private volatile ThrownFailure firstThrown;
    /** Failure to report because the native abort has not returned; null unless this has happened. */
    private volatile Failure stuck;

    private volatile PairedHostMonitor host;
    /**
     * The operation whose caller was interrupted; null without an interrupt. The next field has the failure of the
     * interrupt.
     */
    private volatile NcclWork interrupted;

    private volatile Failure interrupt;
    /**
     * The exception with which NCCL has refused a call, maybe because the ranks have made different calls; null if NCCL
     * has refused no call.
     */
    private volatile Throwable refusal;

    /** The exception for the group's failure, with the call that was running when the first failure arrived. */
    private record ThrownFailure(Failure cause, Where where, String during, FerroException exception) {
        static ThrownFailure of(Failure cause, Where where, String during) {
            return new ThrownFailure(cause, where, during, NcclFailureFactory.exception(cause, where, during));
        }
    }

    GroupFailureState(PendingWorks pending, AbortableComm comm, GroupControl control, Runnable wakeWatchdog) {
        this.pending = pending;
        this.comm = comm;
        this.control = control;
        this.threads = new CompletionThreads(task -> {
            Thread thread = new Thread(task, identity().threadName("completion"));
            thread.setDaemon(true);
            return thread;
        });
        this.wakeWatchdog = wakeWatchdog;
        this.listeners = new Listeners(identity().group(), this::runForUser, true);
    }

    CommIdentity identity() {
        return comm.identity();
    }

    AbortableComm comm() {
        return comm;
    }

    PendingWorks pending() {
        return pending;
    }

    /**
     * Runs code of a user on a separate thread. If there is no memory for a thread, the code runs on the caller's
     * thread.
     */
    void runForUser(Runnable task) {
        try {
            threads.execute(task);
        } catch (OutOfMemoryError noThread) {
            // runs the task on this thread, because otherwise it would never run
            task.run();
        }
    }

    NcclRecorder recording() {
        return recording;
    }

    void recordedBy(NcclRecorder made) {
        recording = made;
    }

    Deadline deadline(Duration timeout) {
        return comm.deadline(timeout);
    }

    void wakeWatchdog() {
        wakeWatchdog.run();
    }

    /** Records that an operation has ended. */
    void ended(NcclWork work) {
        pending.ended(work);
        control.exits().confirm();
    }

    /** Returns the failure on which the ranks currently agree; null if the group has not failed. */
    Failure get() {
        Failure agreed = control.failure();
        return agreed != null && agreed.code() == Code.MISMATCH && refusal != null && agreed.cause() == null
                ? NcclFailureFactory.causedBy(agreed, refusal)
                : agreed;
    }

    /**
     * Returns the exception of the group's failure, or null. Returns the same object until the cause, or what is known
     * about ended processes, changes.
     */
    public FerroException firstThrown() {
        Failure why = get();
        if (why == null) {
            return null;
        }
        ThrownFailure first = firstThrown;
        if (first == null) {
            first = thrownFirst(why);
            firstThrown = first;
        } else if (!isSame(first.cause, why) || !first.where.ends().equals(control.ends())) {
            first = ThrownFailure.of(why, first.where.ended(control.ends()), first.during);
            firstThrown = first;
        }
        return first.exception;
    }

    private ThrownFailure thrownFirst(Failure why) {
        NcclWork oldest = pending.oldest();
        if (oldest != null) {
            return ThrownFailure.of(why, oldest.where().ended(control.ends()), oldest.during());
        }
        // if this rank is in no call, the sequence number is that of the call in which the group failed
        String operation = pending.hasRawCalls() ? pending.lastRaw().label() : "";
        Where where = identity().where(operation, 0).during(operation, why.sequence());
        String during = operation.isEmpty()
                ? FailureFactory.outsideCalls(identity().group(), identity().self())
                : identity().during(operation);
        return ThrownFailure.of(why, where.ended(control.ends()), during);
    }

    private static boolean isSame(Failure one, Failure other) {
        return one.code() == other.code()
                && one.culprits().equals(other.culprits())
                && one.text().equals(other.text());
    }

    /** Throws if the group has failed. */
    void refuse(String call) {
        Failure why = stuck == null ? get() : stuck;
        if (why != null) {
            throw NcclFailureFactory.later(
                    why, identity().where(call, 0), identity().during(call), firstThrown());
        }
    }

    /** Adds a listener to the events of the group. */
    public void listen(Consumer<GroupEvent> listener) {
        listeners.add(listener);
    }

    /**
     * Connects this half of the group, for device tensors, to the half for host tensors. After this, a failure of one
     * half ends both halves.
     */
    public void controlledBy(CollectiveBackend beside) {
        PairedHostMonitor half = new PairedHostMonitor(beside);
        host = half;
        half.listen(this::agree);
    }

    /** Returns whether the group also has a half for host tensors, which fails together with this half. */
    public boolean isCoupled() {
        return host != null;
    }

    /**
     * Ends the group, unless the group has ended. If the failure is that NCCL has lost an unknown rank, first waits a
     * moment until the ranks know which rank is lost.
     */
    void fail(Failure why) {
        if (get() != null) {
            return;
        }
        boolean isOfOthers = why.code() == Code.NATIVE && why.culprits().isEmpty();
        if (isOfOthers && comm.deadline(VERDICT_BOUND).awaitQuietly(known::await)) {
            return;
        }
        PairedHostMonitor half = host;
        agree(half == null ? why : half.judged(why));
    }

    private void agree(Failure why) {
        if (why.code() == Code.ABORTED
                || why.code() == Code.NATIVE && why.culprits().isEmpty()) {
            control.failUnlessFailed(why);
        } else {
            control.fail(why);
        }
    }

    /** Ends operations that have not begun. Called once, on any thread, after the ranks have agreed on a failure. */
    void agreed() {
        FerroException thrown = firstThrown();
        known.countDown();
        try {
            PairedHostMonitor half = host;
            if (half != null && get().origin() == identity().rank()) {
                half.fail(thrown);
            }
            for (NcclWork work : pending.all()) {
                work.dropUnbegun(get());
            }
        } finally {
            wakeWatchdog.run();
        }
    }

    /** Logs an event without sending it to listeners. */
    void log(GroupEvent event) {
        listeners.log(event);
    }

    /** Records an event, and sends it to the listeners. */
    void event(GroupEvent event) {
        recording.event(event);
        listeners.tell(event);
        if (event.kind() == GroupEvent.Kind.FAILED) {
            recording.groupFailed();
        }
    }

    /**
     * Returns the failure that an operation reports. Only the operation whose caller was interrupted reports an
     * interrupt.
     */
    Failure reportedBy(NcclWork work, Failure why) {
        Failure own = interrupt;
        boolean isOwn = work == interrupted && own != null && why.code() == Code.ABORTED;
        return isOwn && why.culprits().equals(own.asSeenByOthers().culprits()) ? own : why;
    }

    /** Ends the group because the caller of an operation was interrupted. Waits until the operation has ended. */
    void interrupted(NcclWork work, InterruptedException interruption) {
        String text = identity().self() + " was interrupted in " + work.title().print();
        Failure why = identity().failure(Code.INTERRUPTED, Set.of(identity().rank()), text, interruption);
        interrupt = why;
        interrupted = work;
        fail(why);
        work.awaitQuietly(comm.deadline(SETTLE_BOUND));
    }

    /** Ends the group because the program requested it. Waits for the abort, at most fifteen seconds. */
    public void abort(Throwable cause) {
        String text =
                "aborted by " + identity().self() + ": " + (cause == null ? "no cause given" : cause.getMessage());
        fail(identity().failure(Code.ABORTED, Set.of(identity().rank()), text, cause));
        awaitSettled(comm.deadline(SETTLE_BOUND));
    }

    /**
     * Ends the group because a native call, or the code around the call, has failed. If the reason may be that ranks
     * have made different calls, the ranks first compare their calls, because NCCL does not report this reason.
     */
    void failedNatively(NcclOperation operation, Throwable thrown) {
        if (thrown instanceof FerroException mismatch && mismatch.code() == Code.MISMATCH) {
            fail(NcclFailureFactory.of(mismatch, identity().rank()));
            return;
        }
        if (get() == null && NcclFailureFactory.mayBeDifferentCalls(thrown)) {
            refusal = thrown;
            control.compareCalls(pending.lastEnded() - COMPARED_ENDED + 1, COMPARED_CALLS);
            if (comm.deadline(COMPARE_BOUND).awaitQuietly(known::await)) {
                return;
            }
        }
        Code code = thrown instanceof FerroException own ? own.code() : Code.NATIVE;
        String text = operation.failing() + " failed: " + thrown.getMessage();
        fail(NcclFailureFactory.natively(code, text, thrown, identity().rank()));
    }

    /** Aborts the communicator and ends the remaining operations. Called once, by the watchdog only. */
    void settle() {
        try {
            comm.abortAndWait(get().text());
            if (comm.isAbortOver()) {
                Deadline bound = comm.deadline(AFTER_ABORT);
                for (NcclWork work : pending.all()) {
                    work.awaitQuietly(bound);
                }
            } else {
                stuck = abortStuck();
            }
        } finally {
            abandonPending();
        }
    }

    private Failure abortStuck() {
        FerroException first = firstThrown();
        String text = "abort stuck: "
                + comm.abortFailure().map(Throwable::getMessage).orElse("ncclCommAbort has not returned")
                + ", so the device may still use the memory of calls in flight: end this process; the group had"
                + " failed with " + get().code() + ": " + get().text();
        return identity().failure(Code.NATIVE, Set.of(identity().rank()), text, first);
    }

    /** Ends all operations that have not ended, even if the abort failed, so that no caller waits any more. */
    private void abandonPending() {
        try {
            for (NcclWork work : pending.all()) {
                work.abandon(stuck == null ? get() : stuck);
            }
        } finally {
            drained = true;
            settled.countDown();
        }
    }

    /** Waits until the failure is handled completely, including the native abort. */
    public boolean awaitSettled(Deadline bound) {
        return bound.awaitQuietly(settled::await);
    }

    /** Returns whether {@link #settle} has ended all operations. */
    boolean isDrained() {
        return drained;
    }
}

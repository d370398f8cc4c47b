package ferro.backend.nccl.queue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.failure.Failure;
import ferro.spi.Listeners;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The one failure of a group on this rank. The first failure wins. It is reported to the other ranks, ends at once the
 * operations that have not begun, and makes the {@link Watchdog} abort the communicator, so that the running ones
 * return too. After that every call fails with it.
 */
public final class FirstFailure {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** Time for streams to pass the work that an abort has cut off; the abort itself has ten seconds of its own. */
    private static final Duration AFTER_ABORT = Duration.ofSeconds(3);

    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);

    private final WorkQueue queue;
    private final AbortableComm comm;
    private final FailureRecords records;
    private final UserThreads threads;
    private final Runnable wakeWatchdog;
    private final Listeners listeners;
    private final AtomicReference<Failure> failure = new AtomicReference<>();
    private final CountDownLatch settled = new CountDownLatch(1);
    private volatile boolean drained;
    private volatile FerroException firstThrown;
    /** Failure to report if the native abort does not return; null if it does. */
    private volatile Failure stuck;

    private volatile HostHalf host;
    /** The operation whose caller was interrupted; null if none was. */
    private volatile NcclWork interrupted;

    FirstFailure(WorkQueue queue, FailureRecords records, UserThreads threads, Runnable wakeWatchdog) {
        this.queue = queue;
        this.comm = queue.comm();
        this.records = records;
        this.threads = threads;
        this.wakeWatchdog = wakeWatchdog;
        this.listeners = new Listeners(identity().group(), threads::run, false);
    }

    private CommIdentity identity() {
        return comm.identity();
    }

    /** Returns why the group has ended, or null. */
    Failure get() {
        return failure.get();
    }

    /** Returns the failure of the group, always the same object; null while it works. */
    public FerroException firstThrown() {
        return firstThrown;
    }

    /** Throws if the group has failed. */
    void refuse(String call) {
        Failure why = stuck == null ? failure.get() : stuck;
        if (why != null) {
            throw NcclFailures.later(
                    NcclFailures.agreed(why),
                    identity().where(call, 0),
                    identity().during(call),
                    firstThrown);
        }
    }

    /** Adds a listener to the events of the group. */
    public void listen(Consumer<GroupEvent> listener) {
        listeners.add(listener);
    }

    /** Connects to the other half of the group: a failure of one half ends both. */
    public void controlledBy(CollectiveBackend beside, LongSupplier clock) {
        HostHalf half = new HostHalf(beside, clock);
        host = half;
        records.controlled();
        half.listen(why -> fail(why, false));
    }

    /**
     * Asks the other half which ranks are silent, on a thread that may wait. Without another half no rank counts as
     * silent.
     */
    CompletableFuture<Set<Integer>> silentRanks(Duration within) {
        HostHalf half = host;
        CompletableFuture<Set<Integer>> answer = new CompletableFuture<>();
        if (half == null) {
            answer.complete(Set.of());
            return answer;
        }
        threads.run(() -> answer.complete(silentRanks(half, within)));
        return answer;
    }

    private Set<Integer> silentRanks(HostHalf half, Duration within) {
        try {
            return half.silentRanks(within);
        } catch (RuntimeException | Error thrown) {
            LOG.log(Level.DEBUG, "cannot find out which ranks of " + identity() + " are present", thrown);
            return Set.of();
        }
    }

    /**
     * Ends the group, unless it has ended. Waits a moment for the rank to blame if there is none and the other half or
     * the store may know it.
     */
    void fail(Failure why) {
        HostHalf half = host;
        if (failure.get() != null) {
            return;
        }
        if (half == null) {
            fail(records.judged(why, queue.oldest()), false);
        } else {
            Failure judged = half.judged(why, () -> failure.get() != null);
            fail(judged, judged == why || judged.code() == Code.TIMED_OUT);
        }
    }

    private void fail(Failure why, boolean telling) {
        if (!failure.compareAndSet(null, why)) {
            return;
        }
        NcclWork oldest = queue.oldest();
        Where where = oldest == null ? identity().where(queue.lastRaw(), 0) : oldest.where();
        String during = oldest == null ? identity().during(queue.lastRaw()) : oldest.during();
        firstThrown = NcclFailures.exception(NcclFailures.agreed(why), where, during);
        try {
            if (telling) {
                host.tell(firstThrown);
            }
            records.tell(why);
            for (NcclWork work : queue.pending()) {
                work.dropUnbegun(why);
            }
        } finally {
            wakeWatchdog.run();
            listeners.tell(recorded(GroupEvent.Kind.FAILED, List.copyOf(why.culprits()), firstThrown.getMessage()));
            NcclRecording recording = queue.recording();
            if (recording != null) {
                recording.groupFailed();
            }
        }
    }

    /** Reports an operation that has used up a quarter of its time. */
    void late(NcclWork work, Waited waited) {
        String text = identity().during(work.title().name()) + ": " + work.print() + " has waited "
                + work.elapsed().toMillis() + " ms of " + work.deadline().lengthMillis() + " ms: " + waited.text();
        LOG.log(Level.WARNING, text);
        listeners.tell(recorded(GroupEvent.Kind.LATE, List.copyOf(waited.culprits()), text));
    }

    private GroupEvent recorded(GroupEvent.Kind kind, List<Integer> ranks, String text) {
        GroupEvent event = GroupEvent.of(kind, identity().group(), identity().rank(), ranks, text);
        NcclRecording recording = queue.recording();
        if (recording != null) {
            recording.event(event);
        }
        return event;
    }

    /** Returns what an operation that the group's failure ends tells: only the interrupted one tells an interrupt. */
    Failure toldBy(NcclWork work, Failure why) {
        return work == interrupted ? why : NcclFailures.agreed(why);
    }

    /** Ends the group because the caller of a work was interrupted. */
    void interrupted(NcclWork work, InterruptedException interrupt) {
        String text = "rank " + identity().rank() + " was interrupted in "
                + work.title().print();
        interrupted = work;
        fail(identity().failure(Code.INTERRUPTED, Set.of(identity().rank()), text, interrupt));
    }

    /** Ends the group because the program asked for it. Waits until the abort is over, at most fifteen seconds. */
    public void abort(Throwable cause) {
        int self = identity().rank();
        String text = "aborted by rank " + self + ": " + (cause == null ? "no cause given" : cause.getMessage());
        fail(identity().failure(Code.ABORTED, Set.of(self), text, cause));
        awaitSettled(comm.deadline(SETTLE_BOUND));
    }

    /**
     * Ends the group with the failure of a native call, or of the code around it. If NCCL has refused data, the ranks first
     * compare their calls, since NCCL does not say that calls differ.
     */
    void failedNatively(NcclOperation operation, Throwable thrown) {
        if (thrown instanceof FerroException mismatch && mismatch.code() == Code.MISMATCH) {
            fail(NcclFailures.of(mismatch, identity().rank()));
            return;
        }
        if (failure.get() == null && NcclFailures.mayBeDifferentCalls(thrown)) {
            records.differingCalls(queue.recentCalls())
                    .ifPresent(differing -> fail(NcclFailures.causedBy(differing, thrown)));
        }
        Code code = thrown instanceof FerroException known ? known.code() : Code.NATIVE;
        String text = operation.failing() + " failed: " + thrown.getMessage();
        fail(NcclFailures.natively(code, text, thrown, identity().rank()));
    }

    /** Aborts natively and ends the remaining operations. Called once, by the watchdog only. */
    void settle() {
        try {
            records.awaitTold();
            comm.abortAndWait(failure.get().text());
            if (comm.isAbortOver()) {
                Deadline bound = comm.deadline(AFTER_ABORT);
                for (NcclWork work : queue.pending()) {
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
        String text = "abort stuck: "
                + comm.abortFailure().map(Throwable::getMessage).orElse("ncclCommAbort has not returned")
                + ", so the device may still use the memory of calls in flight: end this process; the group had"
                + " failed with " + failure.get().code() + ": " + failure.get().text();
        return identity().failure(Code.NATIVE, Set.of(identity().rank()), text, firstThrown);
    }

    /** Releases the waiting callers, also if the settling failed. */
    private void abandonPending() {
        try {
            for (NcclWork work : queue.pending()) {
                work.abandon(stuck == null ? failure.get() : stuck);
            }
        } finally {
            drained = true;
            settled.countDown();
            records.heardFailure();
        }
    }

    /** Waits until the failure is handled completely, including the native abort. */
    public boolean awaitSettled(Deadline bound) {
        return bound.awaitQuietly(settled);
    }

    /** Returns whether no operation is left that an abort could still end. */
    boolean isDrained() {
        return drained;
    }
}

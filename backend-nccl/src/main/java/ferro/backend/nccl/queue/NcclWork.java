package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.Work;
import ferro.control.failure.Failure;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One operation of a queue, which {@link DeviceThread} runs, and the handle by which the caller waits for it.
 *
 * <p>An operation ends exactly once. It succeeds when the device has completed it and the results were copied.
 * Otherwise it ends with the first failure of the group. If the device may still be working on a failed operation, the
 * operation ends only after the device has finished, see {@link #over}.
 */
public final class NcclWork extends DeviceCall<Void> implements Work {
    /** Interval at which a waiting caller makes sure that the watchdog watches the deadline. */
    private static final long LOOK_NANOS = 100_000_000;

    private final GroupFailureState failures;
    private final OperationInfo title;
    /** The operation's number among the collectives of the group, or among the messages to or from the same peer. */
    private final long number;

    private final long sequence;
    private final Deadline deadline;
    /** The native calls. This reference keeps the tensors of the call reachable until the operation has ended. */
    private volatile NativeOperation job;

    private volatile Failure failure;
    private volatile long endedNanos;
    private CompletableFuture<Void> completion;
    /**
     * Whether an abort has cut off this operation, so that it only waits for its streams. Used by the device thread
     * only.
     */
    private boolean cutOff;

    /** Index of the entry of this operation in the flight recorder. */
    private final int entry;

    /**
     * Creates an operation. {@code number} is its number among the group's collectives, or among the messages to or
     * from its peer, from 1.
     */
    NcclWork(GroupFailureState failures, OperationInfo title, long number, NativeOperation job, Deadline deadline) {
        this.failures = failures;
        this.title = title;
        this.number = number;
        this.sequence = title.isMessage() ? -1 : number;
        this.job = job;
        this.deadline = deadline;
        this.entry = failures.recording().submitted(title, sequence, deadline.startNanos());
    }

    /** Returns whether the operation has ended with a failure. */
    boolean hasFailed() {
        return failure != null;
    }

    /** Returns the description of the operation. */
    public OperationInfo title() {
        return title;
    }

    long number() {
        return number;
    }

    Deadline deadline() {
        return deadline;
    }

    /** Returns the start of a message about this operation. */
    String during() {
        return failures.identity().during(title.name()) + (sequence < 0 ? "" : " seq " + sequence);
    }

    /** Returns the description of the call, with its sequence number if it has one. */
    String print() {
        return title.print() + (sequence < 0 ? "" : " seq " + sequence);
    }

    /** Returns the location of a failure of this operation. */
    Where where() {
        long nanos = isDone() ? endedNanos : deadline.elapsedNanos();
        return failures.identity().where(title.name(), nanos).during(title.name(), sequence);
    }

    @Override
    public boolean isDone() {
        return isEnded();
    }

    @Override
    public void await() {
        try {
            while (!awaitNanos(LOOK_NANOS)) {
                if (deadline.passed()) {
                    failures.wakeWatchdog();
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            failures.interrupted(this, interrupted);
        }
        throwFailure();
    }

    @Override
    public boolean await(Duration timeout) {
        Deadline looking = failures.deadline(timeout);
        try {
            if (!await(looking)) {
                return false;
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            failures.interrupted(this, interrupted);
        }
        throwFailure();
        return true;
    }

    @Override
    public synchronized CompletionStage<Void> completion() {
        if (completion == null) {
            completion = new CompletableFuture<>();
            if (isDone()) {
                // no other stage depends on the completion yet, so it can be completed on this thread
                complete(completion, exceptionOrNull());
            }
        }
        return completion.minimalCompletionStage();
    }

    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public Duration elapsed() {
        return Duration.ofNanos(isDone() ? endedNanos : deadline.elapsedNanos());
    }

    private void throwFailure() {
        if (failure != null) {
            throw exception();
        }
    }

    /** Returns the failure as a new exception for each call, so that the stack trace shows the caller. */
    FerroException exception() {
        return NcclFailureFactory.exception(failure, where(), during());
    }

    /** Ends the operation with a failure if the device thread has not begun it. */
    void dropUnbegun(Failure why) {
        if (endUnbegun()) {
            try {
                job.drop();
            } finally {
                finish(why);
            }
        }
    }

    /**
     * Ends the operation although the device may still be working on it. The memory of the operation is then never
     * freed or reused.
     */
    void abandon(Failure why) {
        CallPhase before = claimEnd();
        if (before == CallPhase.ENDED) {
            return;
        }
        try {
            if (before == CallPhase.QUEUED) {
                job.drop();
            } else {
                failures.pending().keepReachable(job);
            }
        } finally {
            finish(why);
        }
    }

    /**
     * Completes the operation. Called last, so that stages that users have chained run after all resources are
     * released.
     */
    private void finish(Failure why) {
        CompletableFuture<Void> chained;
        synchronized (this) {
            failure = why == null ? null : failures.reportedBy(this, why);
            endedNanos = deadline.elapsedNanos();
            failures.recording().ended(entry, title, failure, deadline.startNanos(), endedNanos);
            job = null;
            release();
            chained = completion;
        }
        failures.ended(this);
        if (chained != null) {
            FerroException outcome = exceptionOrNull();
            failures.runForUser(() -> complete(chained, outcome));
        }
    }

    private FerroException exceptionOrNull() {
        return failure == null ? null : exception();
    }

    private static void complete(CompletableFuture<Void> stage, FerroException outcome) {
        if (outcome == null) {
            stage.complete(null);
        } else {
            stage.completeExceptionally(outcome);
        }
    }

    // the methods below are for the device thread

    /** Does nothing. If the device thread never begins this operation, the group's failure or close ends it. */
    @Override
    public boolean drop(RuntimeException why) {
        return false;
    }

    /** Does nothing. An operation ends when it has released its resources, or when its group ends. */
    @Override
    void end(Void value, Throwable thrown) {
        // nothing to do, as the method comment explains
    }

    @Override
    boolean begin() {
        Failure why = failures.get();
        if (why == null) {
            return super.begin();
        }
        try {
            dropUnbegun(why);
        } catch (RuntimeException | Error thrown) {
            // the group has already failed; the device thread continues, so that other operations release their
            // resources
            return false;
        }
        return false;
    }

    @Override
    protected boolean issue() {
        NativeOperation mine = job;
        if (mine == null || failures.get() != null) {
            return true;
        }
        failures.recording().running(entry);
        try {
            return mine.issue();
        } catch (RuntimeException | Error thrown) {
            failures.failedNatively(title.operation(), thrown);
            return true;
        }
    }

    /**
     * First polls the device, then reads the failure. If an abort has made the streams finish, the abort began before
     * the poll. The failure may not be set yet, while the ranks still determine the cause. Until the abort has ended,
     * NCCL may put more work of the failed group on the stream. Therefore a new event is recorded after the abort.
     */
    @Override
    protected boolean over() {
        NativeOperation mine = job;
        if (mine == null) {
            return true;
        }
        boolean passed = hasPassed(mine);
        Failure why = failures.get();
        if (why == null ? failures.comm().isAborted() : !cutOff) {
            passed = false;
        }
        if (passed) {
            end(mine, why);
            return true;
        }
        if (why == null || !failures.isDrained()) {
            return false;
        }
        abandon(why);
        return true;
    }

    private boolean hasPassed(NativeOperation mine) {
        try {
            if (!cutOff && failures.comm().isAbortOver()) {
                cutOff = true;
                mine.cutOff();
            }
            return mine.passed();
        } catch (RuntimeException | Error thrown) {
            failures.failedNatively(title.operation(), thrown);
            return true;
        }
    }

    private void end(NativeOperation mine, Failure why) {
        if (claimEnd() == CallPhase.ENDED) {
            // the operation was abandoned, so its resources are not released
            return;
        }
        Failure outcome = why == null ? delivered(mine) : why;
        try {
            mine.end();
        } finally {
            finish(outcome);
        }
    }

    private Failure delivered(NativeOperation mine) {
        try {
            mine.deliver();
            return null;
        } catch (RuntimeException | Error thrown) {
            failures.failedNatively(title.operation(), thrown);
            return failures.get();
        }
    }
}

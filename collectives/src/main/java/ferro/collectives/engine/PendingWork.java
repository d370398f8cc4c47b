package ferro.collectives.engine;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.MessageStatus;
import ferro.Work;
import ferro.control.failure.Failure;
import ferro.control.wire.RankSetFormat;
import ferro.recorder.CallCounter;
import ferro.recorder.GroupRecorder;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

/**
 * The handle of an operation: state, deadline and waiting thread of the operation. Thread-safe. The handle of a
 * blocking collective is never passed to the caller, so the next blocking collective reuses the handle.
 */
final class PendingWork implements Work {
    /** Shortest pause of a process that an error text mentions, because a shorter pause explains no failure. */
    private static final long PAUSE_NANOS = 100_000_000L;

    private final ProgressLoop owner;
    private String description;
    private long sequence;
    private long begunNanos;
    private long deadlineNanos;
    private volatile boolean done;
    private volatile Thread waiter;
    private volatile Failure interrupt;
    private int entry;
    /**
     * Whether the flight recorder has no entry yet. The entry is made when a thread waits for the operation or at its
     * end.
     */
    private boolean isUnrecorded;

    /**
     * Index of the kind in the counters. The next two fields are the numbers of calls and bytes that a successful end
     * counts.
     */
    private int countedIndex;

    private int countedCalls;
    private long countedBytes;

    /** The message of a receive; null for other operations, and after an end without a message. */
    private Transfer message;

    private boolean isCancelled;

    private WorkFailure badly;
    private long endedNanos;
    private CompletableFuture<Void> completion;

    /**
     * The progress of an operation.
     *
     * @param step       number of the next post of the schedule or step of the program; -1 for a message, or if unknown
     * @param bytesMoved bytes that were moved in both directions, unfinished posts included
     * @param waitingFor ranks that the operation waited for
     */
    public record WorkProgress(int step, long bytesMoved, Set<Integer> waitingFor) {
        public static final WorkProgress NOWHERE = new WorkProgress(-1, 0, Set.of());
    }

    /** The cause of a failure and the progress at the failure. A successful operation needs no object of this class. */
    private record WorkFailure(Failure why, WorkProgress at) {}

    /** Creates the handle of an operation that begins now. {@code sequence} is -1 for a message. */
    public PendingWork(ProgressLoop owner, String description, long sequence, Duration timeout) {
        this.owner = owner;
        this.description = description;
        this.sequence = sequence;
        this.begunNanos = owner.nanoTime();
        this.deadlineNanos = begunNanos + Deadlines.nanos(timeout);
    }

    /** Makes a handle that is not in use. */
    public PendingWork(ProgressLoop owner) {
        this(owner, "", -1, Duration.ZERO);
        done = true;
    }

    /** Turns this object into the handle of another operation, whose number is set later. */
    public void become(String next, long nowNanos, Duration timeout) {
        description = next;
        begunNanos = nowNanos;
        deadlineNanos = nowNanos + Deadlines.nanos(timeout);
        interrupt = null;
        badly = null;
        done = false;
    }

    /** Sets the number of the operation in the order, before other threads can see the operation. */
    public void number(long number) {
        sequence = number;
    }

    /** Returns the time of the submission in nanoseconds, on the context's clock. */
    public long begunNanos() {
        return begunNanos;
    }

    /** Returns the deadline in nanoseconds, on the context's clock. */
    public long deadlineNanos() {
        return deadlineNanos;
    }

    public String description() {
        return description;
    }

    @Override
    public boolean isDone() {
        return done;
    }

    @Override
    public void await() {
        recordLate();
        owner.await(this, StopCondition.DONE, 0);
        throwFailure();
    }

    @Override
    public boolean await(Duration timeout) {
        recordLate();
        owner.await(this, StopCondition.TIME, owner.nanoTime() + Deadlines.nanos(timeout));
        if (!done) {
            return false;
        }
        throwFailure();
        return true;
    }

    @Override
    public synchronized CompletionStage<Void> completion() {
        recordLate();
        if (completion == null) {
            completion = new CompletableFuture<>();
            if (done) {
                finishCompletion();
            }
        }
        return completion.minimalCompletionStage();
    }

    @Override
    public Optional<MessageStatus> status() {
        return done && badly == null && !isCancelled && message != null
                ? Optional.of(message.status())
                : Optional.empty();
    }

    @Override
    public boolean cancel() {
        Transfer receive = message;
        if (!done && receive != null) {
            receive.cancel();
        }
        return done && isCancelled;
    }

    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public Duration elapsed() {
        return Duration.ofNanos((done ? endedNanos : owner.nanoTime()) - begunNanos);
    }

    /** Records the submission in the flight recorder, before the operation is queued. */
    public void recorded(String text, long bytes) {
        entry = owner.recorder().submitted(sequence, text, bytes, begunNanos);
    }

    /** Sets the flight recorder entry of an operation that is already running and already recorded. */
    public void recordedAs(int known) {
        entry = known;
    }

    public void recordedMessage(String text, long bytes, int peer) {
        entry = owner.recorder().message(text, bytes, begunNanos, peer);
    }

    /**
     * Leaves a probe or a match out of the flight recorder until a thread waits for the operation, or until the
     * operation ends with a message or a failure. So a program that polls for messages does not fill the recorder.
     */
    public void recordedLate() {
        isUnrecorded = true;
    }

    private void recordLate() {
        if (isUnrecorded) {
            recordUnlessDone();
        }
    }

    private synchronized void recordUnlessDone() {
        if (isUnrecorded && !done) {
            isUnrecorded = false;
            recordedMessage(description, 0, message.awaitedPeer());
            runs();
        }
    }

    /** Sets the message of a receive, before the operation is queued. */
    public void receives(Transfer received) {
        message = received;
    }

    public Transfer message() {
        return message;
    }

    /** Sets the values that are counted if the operation ends without failure, see {@link CallCounter#ended}. */
    public void counted(int index, int calls, long bytes) {
        countedIndex = index;
        countedCalls = calls;
        countedBytes = bytes;
    }

    public void runs() {
        owner.recorder().running(entry);
    }

    /**
     * Ends the operation successfully. The caller of each method that ends an operation holds the progress lock and has
     * made the last access to the memory of the operation.
     */
    public void succeed(int steps, long bytesMoved) {
        end(null, steps, bytesMoved);
    }

    public void fail(Failure why, WorkProgress at) {
        Failure own = interrupt;
        Failure mine = own != null && own.isToldAs(why) ? own : why;
        end(new WorkFailure(mine, at), at.step, at.bytesMoved);
    }

    public void endCancelled() {
        isCancelled = true;
        end(null, -1, 0);
    }

    /** Sets the failure with which the operation fails if the interrupt of its thread ends the operation. */
    void interrupted(Failure why) {
        interrupt = why;
    }

    private void end(WorkFailure bad, int steps, long bytesMoved) {
        try {
            endOnce(bad, steps, bytesMoved);
        } finally {
            Thread waiting = waiter;
            if (waiting != null) {
                LockSupport.unpark(waiting);
            }
        }
    }

    private synchronized void endOnce(WorkFailure bad, int steps, long bytesMoved) {
        if (done) {
            return;
        }
        badly = bad;
        endedNanos = owner.nanoTime();
        try {
            recordEnd(steps, bytesMoved);
        } finally {
            if (bad != null || isCancelled) {
                // a handle that the caller keeps must not keep the tensor
                message = null;
            }
            // the operation has ended, even if the recording fails
            done = true;
        }
        if (completion != null) {
            finishCompletion();
        }
    }

    private void recordEnd(int steps, long bytesMoved) {
        if (!isCancelled) {
            recordLate();
        }
        GroupRecorder recorder = owner.recorder();
        boolean isUncounted = isCancelled || badly == null && sequence < 0 && countedCalls == 0;
        if (isUncounted) {
            // a receive without a message and a probe are not counted
            recorder.done(entry, endedNanos, steps, bytesMoved);
        } else if (badly == null) {
            recorder.counter().ended(countedIndex, countedCalls, countedBytes, begunNanos, endedNanos);
            recorder.done(entry, endedNanos, steps, bytesMoved);
        } else {
            GroupRecorder.Progress at = new GroupRecorder.Progress(steps, bytesMoved, badly.at.waitingFor);
            recorder.failed(entry, endedNanos, badly.why.code(), at);
        }
    }

    /** Creates the exception of a failure, on the thread that throws it, so that the stack trace helps. */
    public FerroException exception(Failure why, WorkProgress at) {
        String name = owner.group().name();
        long pausedNanos = owner.pausedSince(begunNanos);
        Where where = Where.of(name, owner.group().rank())
                .blaming(why.culprits())
                .during(description, sequence)
                .at(at.step(), at.bytesMoved())
                .after(elapsed(), Duration.ofNanos(pausedNanos));
        String place = sequence < 0 ? "" : " seq " + sequence;
        String text = description + " on group \"" + name + "\" " + owner.self() + place + ": " + why.text()
                + (pausedNanos < PAUSE_NANOS ? "" : "; this process was paused " + RankSetFormat.seconds(pausedNanos));
        return new FerroException(why.code(), where, text, why.cause());
    }

    public void throwFailure() {
        if (isCancelled) {
            throw cancellation();
        }
        if (badly != null) {
            throw exception(badly.why, badly.at);
        }
    }

    private CancellationException cancellation() {
        return new CancellationException(description + " on group \""
                + owner.group().name() + "\" " + owner.self() + " was cancelled after "
                + elapsed().toMillis() + " ms");
    }

    void waitedForBy(Thread thread) {
        waiter = thread;
    }

    private void finishCompletion() {
        CompletableFuture<Void> stage = completion;
        RuntimeException why = isCancelled ? cancellation() : badly == null ? null : exception(badly.why, badly.at);
        owner.later(() -> {
            if (why == null) {
                stage.complete(null);
            } else {
                stage.completeExceptionally(why);
            }
        });
    }

    /** The condition that ends a run of the progress loop. */
    enum StopCondition {
        DONE,
        /** The run ends when the work is done, at a given time, or at an interrupt. Unfinished work continues. */
        TIME,
        /** The run ends when nothing is pending, or when a caller wants the progress lock. */
        IDLE,
        /** The run ends after one iteration, without waiting. */
        ONE_ITERATION
    }
}

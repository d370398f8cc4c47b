package ferro.collectives.engine;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.MessageStatus;
import ferro.Work;
import ferro.control.failure.Failure;
import ferro.control.wire.RankLists;
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
 * The handle of an operation: its state, its deadline and the thread that waits for it. Thread-safe. The handle of a
 * blocking collective is not given to the caller, and is reused for the next one.
 */
final class PendingWork implements Work {
    /** A shorter pause is not mentioned, because it explains nothing. */
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
    /** Whether it has no entry yet, and gets one when a thread waits for it or when it ends. */
    private boolean isUnrecorded;

    /** What it counts as: index of its kind, number of calls that are joined into it, and bytes of this rank. */
    private int countedIndex;

    private int countedCalls;
    private long countedBytes;

    /** The message of a receive; null for all other operations, and after an end without a message. */
    private Transfer message;

    private boolean isCancelled;

    private WorkFailure badly;
    private long endedNanos;
    private CompletableFuture<Void> completion;

    /**
     * How far an operation was.
     *
     * @param step       post of its schedule that was next, -1 if none
     * @param bytesMoved both ways so far, unfinished posts included
     * @param waitingFor ranks that it waited for
     */
    public record Position(int step, long bytesMoved, Set<Integer> waitingFor) {
        public static final Position NOWHERE = new Position(-1, 0, Set.of());
    }

    /** How it failed. It is one object, so that operations that end well are no larger because of it. */
    private record WorkFailure(Failure why, Position at) {}

    /** Makes the handle of an operation that begins now; the number is -1 for a message. */
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

    /** Makes this the handle of another operation, whose number is set later. */
    public void become(String next, long nowNanos, Duration timeout) {
        description = next;
        begunNanos = nowNanos;
        deadlineNanos = nowNanos + Deadlines.nanos(timeout);
        interrupt = null;
        badly = null;
        done = false;
    }

    /** Sets its number in the order, before other threads know it. */
    public void number(long number) {
        sequence = number;
    }

    /** Returns when it was submitted, on the context's clock. */
    public long begunNanos() {
        return begunNanos;
    }

    /** Returns when it has to be done, on the context's clock. */
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
        owner.await(this, RunLimit.DONE, 0);
        throwFailure();
    }

    @Override
    public boolean await(Duration timeout) {
        recordLate();
        owner.await(this, RunLimit.TIME, owner.nanoTime() + Deadlines.nanos(timeout));
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

    /** Sets the entry of an operation that runs, and is already in the flight recorder. */
    public void recordedAs(int known) {
        entry = known;
    }

    public void recordedMessage(String text, long bytes, int peer) {
        entry = owner.recorder().message(text, bytes, begunNanos, peer);
    }

    /**
     * Leaves a probe or a match out of the flight recorder until a thread waits for it, or until it ends with a message
     * or a failure. So a program that looks for messages again and again does not fill the recorder.
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

    /** Sets as what it is counted if it ends without failure, see {@link CallCounter#ended}. */
    public void counted(int index, int calls, long bytes) {
        countedIndex = index;
        countedCalls = calls;
        countedBytes = bytes;
    }

    public void runs() {
        owner.recorder().running(entry);
    }

    /** Ends it successfully. As the other ends: with the progress lock held, after the last access to the memory. */
    public void succeed(int steps, long bytesMoved) {
        end(null, steps, bytesMoved);
    }

    public void fail(Failure why, Position at) {
        Failure own = interrupt;
        Failure mine = own != null && own.isToldAs(why) ? own : why;
        end(new WorkFailure(mine, at), at.step, at.bytesMoved);
    }

    public void endCancelled() {
        isCancelled = true;
        end(null, -1, 0);
    }

    /** Notes that its thread was interrupted: if that ends it, it fails with this failure. */
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
                // a handle that is kept does not keep the tensor
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
            // a receive without a message, and a probe, are counted nowhere
            recorder.done(entry, endedNanos, steps, bytesMoved);
        } else if (badly == null) {
            recorder.counter().ended(countedIndex, countedCalls, countedBytes, begunNanos, endedNanos);
            recorder.done(entry, endedNanos, steps, bytesMoved);
        } else {
            GroupRecorder.Progress at = new GroupRecorder.Progress(steps, bytesMoved, badly.at.waitingFor);
            recorder.failed(entry, endedNanos, badly.why.code(), at);
        }
    }

    /** Makes the exception of a failure, on the thread that throws it, so that its stack trace helps. */
    public FerroException exception(Failure why, Position at) {
        String name = owner.group().name();
        long pausedNanos = owner.pausedSince(begunNanos);
        Where where = Where.of(name, owner.group().rank())
                .blaming(why.culprits())
                .during(description, sequence)
                .at(at.step(), at.bytesMoved())
                .after(elapsed(), Duration.ofNanos(pausedNanos));
        String place = sequence < 0 ? "" : " seq " + sequence;
        String text = description + " on group \"" + name + "\" " + owner.self() + place + ": " + why.text()
                + (pausedNanos < PAUSE_NANOS ? "" : "; this process was paused " + RankLists.seconds(pausedNanos));
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

    /** When a run of the progress loop ends. */
    enum RunLimit {
        DONE,
        /** When the work is done, a time has come, or the thread is interrupted; the work goes on. */
        TIME,
        /** When nothing is pending, or a caller wants the progress lock. */
        IDLE,
        /** After one iteration, without waiting. */
        ONE_ITERATION
    }
}

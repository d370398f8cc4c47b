package ferro.collectives;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.Work;
import ferro.collectives.control.Failure;
import ferro.collectives.control.Names;
import ferro.recorder.GroupRecorder;
import ferro.spi.Deadlines;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

/**
 * The handle of an operation: its state, its deadline, who waits for it; thread-safe. That of a blocking collective nobody else
 * has, and it is used for the next one again.
 */
final class PendingWork implements Work {
    /** A shorter pause explains nothing. */
    private static final long PAUSE_NANOS = 100_000_000L;

    private final ProgressLoop loop;
    private String description;
    private long sequence;
    private long begunNanos;
    private long deadlineNanos;
    private volatile boolean done;
    private volatile Thread waiter;
    private volatile Failure interrupt;
    /** What stands for it in the flight recorder. */
    private int entry;

    private Ending badly;
    private long endedNanos;
    private CompletableFuture<Void> completion;

    /**
     * How far an operation had come.
     *
     * @param step       post of its schedule that was next, -1 if none
     * @param bytesMoved both ways so far, unfinished posts included
     * @param waitingFor ranks that it waited for, comma-separated
     */
    record Position(int step, long bytesMoved, String waitingFor) {
        static final Position NOWHERE = new Position(-1, 0, "");
    }

    /** How it failed; one object, so that operations that end well are no longer for it. */
    private record Ending(Failure why, Position at) {}

    PendingWork(ProgressLoop loop, String description, long sequence, Duration timeout) {
        this.loop = loop;
        this.description = description;
        this.sequence = sequence;
        this.begunNanos = loop.nanoTime();
        this.deadlineNanos = begunNanos + Deadlines.nanos(timeout);
    }

    /** Makes one that is not in use. */
    PendingWork(ProgressLoop loop) {
        this(loop, "", -1, Duration.ZERO);
        done = true;
    }

    /** Becomes the handle of another operation, whose number is still to be given. */
    void become(String next, long nowNanos, Duration timeout) {
        description = next;
        begunNanos = nowNanos;
        deadlineNanos = nowNanos + Deadlines.nanos(timeout);
        interrupt = null;
        badly = null;
        done = false;
    }

    /** Gives it its place in the order; before others know it. */
    void number(long number) {
        sequence = number;
    }

    long begunNanos() {
        return begunNanos;
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    String description() {
        return description;
    }

    @Override
    public boolean isDone() {
        return done;
    }

    @Override
    public void await() {
        loop.await(this, ProgressLoop.Until.DONE, 0);
        throwFailure();
    }

    @Override
    public boolean await(Duration timeout) {
        loop.await(this, ProgressLoop.Until.TIME, loop.nanoTime() + Deadlines.nanos(timeout));
        if (!done) {
            return false;
        }
        throwFailure();
        return true;
    }

    @Override
    public synchronized CompletionStage<Void> completion() {
        if (completion == null) {
            completion = new CompletableFuture<>();
            if (done) {
                finishCompletion();
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
        return Duration.ofNanos((done ? endedNanos : loop.nanoTime()) - begunNanos);
    }

    /** Tells the flight recorder what it is; before it is queued. */
    void recorded(String text, long bytes) {
        entry = loop.recorder().submitted(sequence, text, bytes, begunNanos);
    }

    /** It runs, and stands in the flight recorder already. */
    void recordedAs(int known) {
        entry = known;
    }

    /** Tells the flight recorder what message it is. */
    void recordedMessage(String text, long bytes, int peer) {
        entry = loop.recorder().message(text, bytes, begunNanos, peer);
    }

    /** Tells the flight recorder that it begins to run. */
    void runs() {
        loop.recorder().running(entry);
    }

    /** Ends it well; by whoever has the turn, after the last touch of the caller's memory. */
    void succeed(int steps, long bytesMoved) {
        end(null, steps, bytesMoved);
    }

    /** Ends it badly; by whoever has the turn, after the last touch of the caller's memory. */
    void fail(Failure why, Position at) {
        Failure own = interrupt;
        Failure mine = own != null && own.isToldAs(why) ? own : why;
        end(new Ending(mine, at), at.step, at.bytesMoved);
    }

    /** Notes that its thread was interrupted: if that is what ends it, it fails with this. */
    void interrupted(Failure why) {
        interrupt = why;
    }

    private void end(Ending bad, int steps, long bytesMoved) {
        try {
            endOnce(bad, steps, bytesMoved);
        } finally {
            Thread waiting = waiter;
            if (waiting != null) {
                LockSupport.unpark(waiting);
            }
        }
    }

    private synchronized void endOnce(Ending bad, int steps, long bytesMoved) {
        if (done) {
            return;
        }
        badly = bad;
        endedNanos = loop.nanoTime();
        try {
            recordEnd(steps, bytesMoved);
        } finally {
            // whatever goes wrong around it, it has ended
            done = true;
        }
        if (completion != null) {
            finishCompletion();
        }
    }

    private void recordEnd(int steps, long bytesMoved) {
        GroupRecorder recorder = loop.recorder();
        if (badly == null) {
            recorder.done(entry, endedNanos, steps, bytesMoved);
        } else {
            GroupRecorder.Progress at = new GroupRecorder.Progress(steps, bytesMoved, badly.at.waitingFor);
            recorder.failed(entry, endedNanos, badly.why.code(), at);
        }
    }

    /** Makes the exception of this operation out of a failure, on the thread that throws it, so that its trace helps. */
    FerroException exception(Failure why, Position at) {
        String name = loop.group().name();
        int rank = loop.group().rank();
        long pausedNanos = loop.pausedSince(begunNanos);
        Where where = new Where(
                name,
                rank,
                why.culprits(),
                description,
                sequence,
                at.step(),
                at.bytesMoved(),
                elapsed().toNanos(),
                pausedNanos);
        String place = sequence < 0 ? "" : " seq " + sequence;
        String text = description + " on group \"" + name + "\" rank " + rank + place + ": " + why.text()
                + (pausedNanos < PAUSE_NANOS ? "" : "; this process was paused " + Names.seconds(pausedNanos));
        return new FerroException(why.code(), where, text, why.cause());
    }

    void throwFailure() {
        if (badly != null) {
            throw exception(badly.why, badly.at);
        }
    }

    void waitedForBy(Thread thread) {
        waiter = thread;
    }

    private void finishCompletion() {
        CompletableFuture<Void> stage = completion;
        FerroException why = badly == null ? null : exception(badly.why, badly.at);
        loop.later(() -> {
            if (why == null) {
                stage.complete(null);
            } else {
                stage.completeExceptionally(why);
            }
        });
    }
}

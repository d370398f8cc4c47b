package ferro.collectives;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.Work;
import ferro.collectives.control.Deadlines;
import ferro.collectives.control.Failure;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

/** The handle of an operation: its state, its deadline, who waits for it; thread-safe. */
final class PendingWork implements Work {
    private final Driver driver;
    private final String description;
    private final long sequence;
    private final long begunNanos;
    private final long deadlineNanos;
    private volatile boolean done;
    private volatile Thread waiter;
    private Failure failure;
    private Position failedAt = Position.NOWHERE;
    private long endedNanos;
    private CompletableFuture<Void> completion;

    /**
     * How far an operation had come.
     *
     * @param step       post of its schedule that was next, -1 if none
     * @param bytesMoved received so far
     */
    record Position(int step, long bytesMoved) {
        static final Position NOWHERE = new Position(-1, 0);
    }

    PendingWork(Driver driver, String description, long sequence, Duration timeout) {
        this.driver = driver;
        this.description = description;
        this.sequence = sequence;
        this.begunNanos = driver.nanoTime();
        this.deadlineNanos = begunNanos + Deadlines.nanos(timeout);
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
        driver.drive(this);
        throwFailure();
    }

    @Override
    public boolean await(Duration timeout) {
        driver.look(this, driver.nanoTime() + Deadlines.nanos(timeout));
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
        return Duration.ofNanos((done ? endedNanos : driver.nanoTime()) - begunNanos);
    }

    /** Ends it well; by whoever drives, after the last touch of the caller's memory. */
    void succeed() {
        end(null, Position.NOWHERE);
    }

    /** Ends it badly; by whoever drives, after the last touch of the caller's memory. */
    void fail(Failure why, Position at) {
        end(why, at);
    }

    private void end(Failure why, Position at) {
        synchronized (this) {
            if (done) {
                return;
            }
            failure = why;
            failedAt = at;
            endedNanos = driver.nanoTime();
            done = true;
            if (completion != null) {
                finishCompletion();
            }
        }
        Thread waiting = waiter;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    /** Makes the exception of this operation out of a failure, on the thread that throws it, so that its trace helps. */
    FerroException exception(Failure why, Position at) {
        String name = driver.group().name();
        int rank = driver.group().rank();
        Where where = new Where(
                name,
                rank,
                why.culprits(),
                description,
                sequence,
                at.step(),
                at.bytesMoved(),
                elapsed().toNanos(),
                0);
        String place = sequence < 0 ? "" : " seq " + sequence;
        String text = description + " on group \"" + name + "\" rank " + rank + place + ": " + why.text();
        return new FerroException(why.code(), where, text, why.cause());
    }

    void throwFailure() {
        if (failure != null) {
            throw exception(failure, failedAt);
        }
    }

    void waitedForBy(Thread thread) {
        waiter = thread;
    }

    private void finishCompletion() {
        CompletableFuture<Void> stage = completion;
        FerroException why = failure == null ? null : exception(failure, failedAt);
        driver.later(() -> {
            if (why == null) {
                stage.complete(null);
            } else {
                stage.completeExceptionally(why);
            }
        });
    }
}

package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.Work;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The handle of one operation on its way through {@link WorkQueue} and {@link DeviceThread}.
 *
 * <p>It ends exactly once. Well: after the device has passed it and its results are delivered. Badly: with the first failure
 * of the group; one that the device may still be busy with waits for that, see {@link #over}.
 */
final class NcclWork implements Work, DeviceTask<Void> {
    /** So often a waiting caller makes sure that its deadline is watched. */
    private static final long LOOK_NANOS = 100_000_000;

    private final WorkQueue queue;
    private final Title title;
    /** Its place among the collectives of the group, or among the messages to or from that peer. */
    private final long number;

    private final long sequence;
    private final Deadline deadline;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.QUEUED);
    /** Keeps the tensors of the call reachable until the end. */
    private volatile NcclJob job;

    private volatile GroupFailure failure;
    private volatile long endedNanos;
    private CompletableFuture<Void> completion;
    /** Whether a failed operation waits for what an abort has left of it; only the device thread touches it. */
    private boolean cutOff;

    /** What stands for it in the flight recorder. */
    private final int entry;

    private enum Phase {
        QUEUED,
        RUNNING,
        ENDED
    }

    /**
     * What is told of an operation.
     *
     * @param operation for messages
     * @param words     gives {@link #print}, which only slow and failed operations need
     * @param peer      the other rank of a message, which has no place in the sequence; -1 for a collective
     * @param bytes     of its data
     */
    record Title(NcclOperation operation, Supplier<String> words, int peer, long bytes) {
        /** Returns kind, counts, type, op and root: what must be equal on all ranks. */
        String print() {
            return words.get();
        }

        boolean isMessage() {
            return peer >= 0;
        }
    }

    /** Begins with its number, from 1: of a collective in its group, of a message to or from its peer. */
    NcclWork(WorkQueue queue, Title title, long number, NcclJob job, Deadline deadline) {
        this.queue = queue;
        this.title = title;
        this.number = number;
        this.sequence = title.isMessage() ? -1 : number;
        this.job = job;
        this.deadline = deadline;
        NcclRecording recording = queue.recording();
        this.entry = recording == null ? 0 : recording.submitted(title, sequence, deadline.startNanos());
    }

    Title title() {
        return title;
    }

    long number() {
        return number;
    }

    Deadline deadline() {
        return deadline;
    }

    /** Returns how a message begins. */
    String place() {
        return queue.place().during(title.operation()) + (sequence < 0 ? "" : " seq " + sequence);
    }

    /** Returns what was called, with its place in the sequence where it has one. */
    String print() {
        return title.print() + (sequence < 0 ? "" : " seq " + sequence);
    }

    /** Returns where a failure of it happened. */
    Where where() {
        String group = queue.place().group();
        long nanos = isDone() ? endedNanos : deadline.elapsedNanos();
        return new Where(group, queue.place().rank(), "", title.operation().label(), sequence, -1, 0, nanos, 0);
    }

    @Override
    public boolean isDone() {
        return ended.getCount() == 0;
    }

    @Override
    public void await() {
        try {
            while (!ended.await(LOOK_NANOS, TimeUnit.NANOSECONDS)) {
                queue.nudge(this);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            queue.interrupted(this, interrupted);
            queue.settled(this);
        }
        throwFailure();
    }

    @Override
    public boolean await(Duration timeout) {
        Deadline looking = queue.deadline(timeout);
        try {
            if (!looking.await(ended)) {
                return false;
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            queue.interrupted(this, interrupted);
            queue.settled(this);
        }
        throwFailure();
        return true;
    }

    /** Waits for the end, whatever comes in between; only for those who know that it is near. */
    boolean awaitQuietly(Deadline bound) {
        return bound.awaitQuietly(ended);
    }

    @Override
    public synchronized CompletionStage<Void> completion() {
        if (completion == null) {
            completion = new CompletableFuture<>();
            if (isDone()) {
                // nothing is chained to it yet, so that no thread is needed
                complete(completion, outcome());
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

    /** A new one each time, so that its trace shows who asked. */
    FerroException exception() {
        return failure.exception(where(), place());
    }

    /** Ends it badly if the device thread has not begun it. */
    void dropUnbegun(GroupFailure why) {
        if (phase.compareAndSet(Phase.QUEUED, Phase.ENDED)) {
            try {
                job.drop();
            } finally {
                finish(why);
            }
        }
    }

    /** Ends it badly although the device may be busy with it: what it touches is neither freed nor given back, for good. */
    void abandon(GroupFailure why) {
        Phase before = phase.getAndSet(Phase.ENDED);
        if (before == Phase.ENDED) {
            return;
        }
        try {
            if (before == Phase.QUEUED) {
                job.drop();
            } else {
                queue.keepReachable(job);
            }
        } finally {
            finish(why);
        }
    }

    /** The last step of each end: what users chained runs after everything is given back. */
    private void finish(GroupFailure why) {
        CompletableFuture<Void> chained;
        synchronized (this) {
            failure = why;
            endedNanos = deadline.elapsedNanos();
            recordEnd();
            job = null;
            ended.countDown();
            chained = completion;
        }
        queue.ended(this);
        if (chained != null) {
            FerroException outcome = outcome();
            queue.onThreadOfItsOwn(() -> complete(chained, outcome));
        }
    }

    private void recordRunning() {
        NcclRecording recording = queue.recording();
        if (recording != null) {
            recording.running(entry);
        }
    }

    private void recordEnd() {
        NcclRecording recording = queue.recording();
        if (recording != null) {
            recording.ended(entry, title, failure, deadline.startNanos() + endedNanos);
        }
    }

    private FerroException outcome() {
        return failure == null ? null : exception();
    }

    private static void complete(CompletableFuture<Void> stage, FerroException outcome) {
        if (outcome == null) {
            stage.complete(null);
        } else {
            stage.completeExceptionally(outcome);
        }
    }

    // what follows is the device thread's side

    @Override
    public boolean issue() {
        if (queue.failure() != null) {
            dropUnbegun(queue.failure());
            return true;
        }
        if (phase.get() == Phase.QUEUED && !phase.compareAndSet(Phase.QUEUED, Phase.RUNNING)) {
            return true;
        }
        NcclJob mine = job;
        if (mine == null || queue.failure() != null) {
            return true;
        }
        recordRunning();
        try {
            return mine.issue();
        } catch (RuntimeException | Error thrown) {
            queue.failedNatively(title.operation(), thrown);
            return true;
        }
    }

    /**
     * Looks at the device first, at the failure second: an abort makes streams pass, but it had begun by then, and if the failure
     * is not set yet, since its cause is still looked for, it soon is. What NCCL had not put on the stream when the group failed
     * comes there, or not, until the abort has ended; so the stream is marked again after that.
     */
    @Override
    public boolean over() {
        NcclJob mine = job;
        if (mine == null) {
            return true;
        }
        boolean passed = hasPassed(mine);
        GroupFailure why = queue.failure();
        if (why == null ? queue.isAborted() : !cutOff) {
            passed = false;
        }
        if (passed) {
            end(mine, why);
            return true;
        }
        if (why == null || !queue.isDrained()) {
            return false;
        }
        abandon(why);
        return true;
    }

    private boolean hasPassed(NcclJob mine) {
        try {
            if (!cutOff && queue.isAbortOver()) {
                cutOff = true;
                mine.cutOff();
            }
            return mine.passed();
        } catch (RuntimeException | Error thrown) {
            queue.failedNatively(title.operation(), thrown);
            return true;
        }
    }

    private void end(NcclJob mine, GroupFailure why) {
        if (phase.getAndSet(Phase.ENDED) == Phase.ENDED) {
            // abandoned, so that it keeps what it holds
            return;
        }
        GroupFailure outcome = why == null ? delivered(mine) : why;
        try {
            mine.end();
        } finally {
            finish(outcome);
        }
    }

    private GroupFailure delivered(NcclJob mine) {
        try {
            mine.deliver();
            return null;
        } catch (RuntimeException | Error thrown) {
            queue.failedNatively(title.operation(), thrown);
            return queue.failure();
        }
    }

    @Override
    public Void result() {
        return null;
    }
}

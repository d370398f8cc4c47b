package ferro.backend.nccl;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.spi.Listeners;
import ferro.spi.RankContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The order of operations of one rank, and its one failure.
 *
 * <p>Any thread submits. The place in the queue, the sequence number and the submission to the device thread are one
 * step. The first failure wins. It ends at once the operations that have not begun, and makes the {@link Watchdog}
 * abort the communicator, so that the running ones return too. After that every call fails with it.
 */
final class WorkQueue {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");
    /** Time for streams to pass the work that an abort has cut off; the abort itself has ten seconds of its own. */
    private static final Duration AFTER_ABORT = Duration.ofSeconds(3);

    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);
    private static final long IDLE_MILLIS = 1000;

    private final Communicator comm;
    private final FailureRecords notes;
    private final Watchdog watchdog;
    private final AtomicReference<GroupFailure> failure = new AtomicReference<>();
    private final CountDownLatch settled = new CountDownLatch(1);
    private final ArrayDeque<NcclWork> pending = new ArrayDeque<>();
    private final List<NcclJob> reachable = new ArrayList<>();
    /** Streams with raw calls that have not been synchronised since. */
    private final Set<Long> rawStreams = ConcurrentHashMap.newKeySet();

    private final Listeners listeners;

    private volatile NcclOperation lastRaw = NcclOperation.PREPARE;
    private ThreadPoolExecutor chained;
    private long lastSequence;
    /** Number of messages to each rank, and from each rank. */
    private final long[] sent;

    private final long[] taken;
    private boolean closing;
    private volatile boolean drained;
    private volatile FerroException firstThrown;
    /** Failure to report if the native abort does not return; null if it does. */
    private volatile GroupFailure stuck;

    private volatile HostHalf host;
    /** Null for a queue without a recorder. */
    private volatile NcclRecording recording;

    WorkQueue(Communicator comm, FailureRecords notes) {
        this.comm = comm;
        this.notes = notes;
        sent = new long[place().worldSize()];
        taken = new long[place().worldSize()];
        this.listeners = new Listeners(place().group(), this::onThreadOfItsOwn, false);
        this.watchdog = new Watchdog(this);
        watchdog.start();
    }

    /** Starts to record every operation; to be called before the first. */
    void recordedAs(RankContext context, int[] ranks) {
        recording = new NcclRecording(context, this, ranks);
    }

    /** Returns the recorder of every operation, or null. */
    NcclRecording recording() {
        return recording;
    }

    CommPlace place() {
        return comm.handle().place();
    }

    Communicator comm() {
        return comm;
    }

    FailureRecords notes() {
        return notes;
    }

    Deadline deadline(Duration timeout) {
        return comm.deadline(timeout);
    }

    /** Returns why the group has ended, or null. */
    GroupFailure failure() {
        return failure.get();
    }

    /**
     * Queues an operation.
     *
     * @param title   description of the operation; a message gets no sequence number
     * @param job     native side
     * @param timeout time from now to the end
     * @throws FerroException        if the group has failed
     * @throws IllegalStateException if it is closed, or if this is the device thread
     */
    NcclWork submit(NcclWork.Title title, NcclJob job, Duration timeout) {
        NcclWork work;
        try {
            work = enqueue(title, job, timeout);
        } catch (RuntimeException | Error refused) {
            job.drop();
            throw refused;
        }
        if (failure.get() != null) {
            work.dropUnbegun(failure.get());
        }
        watchdog.watch(work.deadline());
        return work;
    }

    private NcclWork enqueue(NcclWork.Title title, NcclJob job, Duration timeout) {
        if (comm.thread().isCurrent()) {
            throw new IllegalStateException(place().during(title.operation())
                    + ": a whole call was made inside grouped: make raw calls there, and whole ones after it");
        }
        synchronized (this) {
            refuse(title.operation());
            NcclWork work = new NcclWork(this, title, numbered(title, 0) + 1, job, deadline(timeout));
            comm.thread().submit(work);
            pending.add(work);
            numbered(title, 1);
            return work;
        }
    }

    /** Counts collectives, and messages by peer and direction. Returns the count after that. */
    private long numbered(NcclWork.Title title, int more) {
        if (!title.isMessage()) {
            lastSequence += more;
            return lastSequence;
        }
        long[] messages = title.operation() == NcclOperation.RECV ? taken : sent;
        messages[title.peer()] += more;
        return messages[title.peer()];
    }

    /** Throws if nothing may start any more. */
    synchronized void refuse(NcclOperation operation) {
        if (closing) {
            throw new IllegalStateException(place().during(operation) + ": the group is closed: join again");
        }
        GroupFailure why = stuck == null ? failure.get() : stuck;
        if (why != null) {
            throw why.later(place().where(operation, 0), place().during(operation), firstThrown);
        }
    }

    /** Returns the operation that the ranks wait for now, or null. */
    synchronized NcclWork oldest() {
        while (!pending.isEmpty() && pending.peek().isDone()) {
            pending.poll();
        }
        return pending.peek();
    }

    synchronized List<NcclWork> pending() {
        return new ArrayList<>(pending);
    }

    /** Returns the number of the last collective, 0 before the first. */
    synchronized long lastSequence() {
        return lastSequence;
    }

    /** Records in the store that this rank makes no more calls, and how far it has come. */
    void goodbye() {
        LeaveRecord own;
        synchronized (this) {
            own = new LeaveRecord(place().rank(), lastSequence, sent.clone(), taken.clone());
        }
        notes.goodbye(own);
    }

    void ended(NcclWork work) {
        synchronized (this) {
            if (pending.peek() == work) {
                pending.poll();
            } else {
                pending.remove(work);
            }
            notifyAll();
        }
    }

    // raw calls, which have no work that is waited for

    /** Registers a raw call that will be made. Until its stream is synchronised, NCCL is polled for failures. */
    void rawCall(NcclOperation operation, long stream) {
        lastRaw = operation;
        if (rawStreams.add(stream)) {
            watchdog.watchRaw();
        }
    }

    /** Removes the raw calls of a stream, which have passed or failed. */
    void rawPassed(long stream) {
        rawStreams.remove(stream);
    }

    boolean hasRawCalls() {
        return !rawStreams.isEmpty();
    }

    /**
     * Returns the operation that an asynchronous failure is named after: the one that the ranks wait for, or the last
     * raw call.
     */
    NcclOperation lastOperation() {
        NcclWork oldest = oldest();
        return oldest == null ? lastRaw : oldest.title().operation();
    }

    // failing

    /** Connects to the other half of the group: a failure of one half ends both. */
    void controlledBy(HostHalf half) {
        host = half;
        notes.controlled();
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
        onThreadOfItsOwn(() -> {
            try {
                answer.complete(half.silentRanks(within));
            } catch (RuntimeException | Error thrown) {
                LOG.log(Level.DEBUG, "nobody knows which ranks of " + place() + " are there", thrown);
                answer.complete(Set.of());
            }
        });
        return answer;
    }

    Listeners listeners() {
        return listeners;
    }

    /**
     * Ends the group, unless it has ended. Waits a moment for the rank to blame if there is none and the other half or
     * the store may know it.
     */
    void fail(GroupFailure why) {
        HostHalf half = host;
        if (failure.get() != null) {
            return;
        }
        if (half == null) {
            fail(notes.judged(why, oldest()), false);
        } else {
            GroupFailure judged = half.judged(why, () -> failure.get() != null);
            fail(judged, judged == why || judged.code() == Code.TIMED_OUT);
        }
    }

    private void fail(GroupFailure why, boolean telling) {
        if (!failure.compareAndSet(null, why)) {
            return;
        }
        NcclWork oldest = oldest();
        Where where = oldest == null ? place().where(lastRaw, 0) : oldest.where();
        String during = oldest == null ? place().during(lastRaw) : oldest.place();
        firstThrown = why.agreed().exception(where, during);
        try {
            if (telling) {
                host.tell(firstThrown);
            }
            notes.tell(why);
            for (NcclWork work : pending()) {
                work.dropUnbegun(why);
            }
        } finally {
            watchdog.wake();
            listeners.tell(recorded(GroupEvent.Kind.FAILED, why.culprits(), firstThrown.getMessage()));
            if (recording != null) {
                recording.groupFailed();
            }
        }
    }

    /** Returns the failure of the group, always the same object; null while it works. */
    FerroException firstThrown() {
        return firstThrown;
    }

    /** Reports an operation that has used up a quarter of its time. */
    void late(NcclWork work, Waited waited) {
        String text = place().during(work.title().operation()) + ": " + work.print() + " waits for "
                + work.elapsed().toMillis() + " ms of " + work.deadline().lengthMillis() + " ms: " + waited.text();
        LOG.log(Level.WARNING, text);
        listeners.tell(recorded(GroupEvent.Kind.LATE, waited.culprits(), text));
    }

    private GroupEvent recorded(GroupEvent.Kind kind, String ranks, String text) {
        GroupEvent event = new GroupEvent(kind, place().group(), place().rank(), GroupFailure.ranks(ranks), text);
        if (recording != null) {
            recording.event(event);
        }
        return event;
    }

    void interrupted(NcclWork work, InterruptedException interrupt) {
        String text = "rank " + place().rank() + " was interrupted while it waited for "
                + work.title().print();
        fail(new GroupFailure(Code.INTERRUPTED, Integer.toString(place().rank()), text, interrupt));
    }

    /** Ends the group with the failure of a native call, or of the code around it. */
    void failedNatively(NcclOperation operation, Throwable thrown) {
        fail(nativeFailure(operation, thrown));
    }

    private GroupFailure nativeFailure(NcclOperation operation, Throwable thrown) {
        Code code = thrown instanceof FerroException known ? known.code() : Code.NATIVE;
        boolean told = code == Code.MISMATCH;
        String text = told ? thrown.getMessage() : operation.failing() + " failed: " + thrown.getMessage();
        return GroupFailure.natively(code, text, thrown, place().rank());
    }

    /** Aborts natively and ends the remaining operations. Called once, by the watchdog only. */
    void settle() {
        try {
            notes.awaitTold();
            comm.abort(failure.get().text());
            comm.handle().freeByAbort();
            if (isAbortOver()) {
                Deadline bound = deadline(AFTER_ABORT);
                for (NcclWork work : pending()) {
                    work.awaitQuietly(bound);
                }
            } else {
                stuck = abortStuck();
            }
        } finally {
            abandonPending();
        }
    }

    private GroupFailure abortStuck() {
        String text = "abort stuck: "
                + comm.handle().abortFailure().map(Throwable::getMessage).orElse("ncclCommAbort has not come back")
                + ", so that the device may still use the memory of calls under way: end this process; the group had"
                + " failed with " + failure.get().code() + ": " + failure.get().text();
        return new GroupFailure(Code.NATIVE, Integer.toString(place().rank()), text, firstThrown);
    }

    /** Releases the waiting callers, also if the settling failed. */
    private void abandonPending() {
        try {
            for (NcclWork work : pending()) {
                work.abandon(stuck == null ? failure.get() : stuck);
            }
        } finally {
            drained = true;
            settled.countDown();
            notes.heardFailure();
        }
    }

    /** Waits until an operation of a failed group has ended. */
    void settled(NcclWork work) {
        work.awaitQuietly(deadline(SETTLE_BOUND));
    }

    /** Waits until a failure is handled completely, including the native abort. */
    boolean awaitSettled(Deadline bound) {
        return bound.awaitQuietly(settled);
    }

    boolean isDrained() {
        return drained;
    }

    /** Returns whether an abort has begun, so that streams may pass without having done the work. */
    boolean isAborted() {
        return comm.handle().isAborted();
    }

    /** Returns whether NCCL puts nothing on a stream any more. */
    boolean isAbortOver() {
        return comm.handle().isAbortOver();
    }

    synchronized void keepReachable(NcclJob job) {
        reachable.add(job);
    }

    /** Returns whether the device may still use memory of abandoned operations. */
    synchronized boolean hasAbandoned() {
        return !reachable.isEmpty();
    }

    /** Makes sure that the deadline of a work is watched while a caller waits for it. */
    void nudge(NcclWork work) {
        if (work.deadline().passed()) {
            watchdog.wake();
        }
    }

    // ending

    /** Takes no more calls. Returns whether this was the first time. */
    synchronized boolean beginClose() {
        boolean firstTime = !closing;
        closing = true;
        return firstTime;
    }

    /** Waits for the queued operations. */
    boolean awaitEmpty(Deadline bound) {
        boolean interrupted = false;
        synchronized (this) {
            while (oldest() != null && !bound.passed()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, Math.min(bound.remainingNanos(), 20_000_000)));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return oldest() == null;
    }

    /** Ends the watchdog. Operations that are still pending will never be polled again. */
    void end() {
        try {
            watchdog.end();
            for (NcclWork work : pending()) {
                work.abandon(failure.get());
            }
        } finally {
            if (recording != null) {
                recording.close();
            }
        }
    }

    /**
     * Runs stages that users chained to a work. They may block, so they get a thread that makes no progress for others.
     * The threads end when they are idle, so that this also works after the end.
     */
    void onThreadOfItsOwn(Runnable task) {
        try {
            threads().execute(task);
        } catch (OutOfMemoryError noThread) {
            // running on the wrong thread is better than never
            task.run();
        }
    }

    private synchronized ThreadPoolExecutor threads() {
        if (chained == null) {
            String name = place().threadName("completion");
            chained = new ThreadPoolExecutor(
                    0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, name);
                        thread.setDaemon(true);
                        return thread;
                    });
        }
        return chained;
    }
}

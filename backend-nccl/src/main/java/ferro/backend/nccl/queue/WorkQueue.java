package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.control.failure.Failure;
import ferro.control.group.GroupDeparture;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The order of operations of one rank, which {@link FirstFailure} ends.
 *
 * <p>Any thread submits. The place in the queue, the sequence number and the submission to the device thread are one
 * step.
 */
public final class WorkQueue implements GroupDeparture.OpenCalls {
    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);
    /** Interval at which a close reads the clock, which need not be the machine's. */
    private static final long LOOK_NANOS = 20_000_000;

    private final AbortableComm comm;
    private final CommControl control;
    private final UserThreads threads;
    private final Watchdog watchdog;
    private final FirstFailure failure;
    private final ArrayDeque<NcclWork> pending = new ArrayDeque<>();
    private final List<NcclJob> reachable = new ArrayList<>();
    /** Streams with raw calls that have not been synchronised since. */
    private final Set<Long> rawStreams = ConcurrentHashMap.newKeySet();

    private volatile NcclOperation lastRaw = NcclOperation.PREPARE;
    private volatile long lastEnded;
    private long lastSequence;
    /** Number of messages to each rank, and from each rank. */
    private final long[] sent;

    private final long[] taken;
    private boolean closing;
    /** Null for a queue without a recorder. */
    private volatile NcclRecording recording;

    /** Opens a queue, its control and its watchdog. */
    public WorkQueue(AbortableComm comm, CommControl control) {
        this.comm = comm;
        this.control = control;
        sent = new long[identity().worldSize()];
        taken = new long[identity().worldSize()];
        this.threads = new UserThreads(identity().threadName("completion"));
        this.watchdog = new Watchdog(this);
        this.failure = new FirstFailure(this, threads, watchdog::wake);
        control.open(this);
        watchdog.start();
    }

    /** Starts to record every operation; to be called before the first. */
    public void recordedAs(RankContext context, int[] ranks) {
        recording = new NcclRecording(context, this, ranks);
    }

    /** Returns the recorder of every operation, or null. */
    public NcclRecording recording() {
        return recording;
    }

    /** Returns group, rank and device. */
    public CommIdentity identity() {
        return comm.identity();
    }

    AbortableComm comm() {
        return comm;
    }

    /** Returns what the ranks tell each other beside the library. */
    public CommControl control() {
        return control;
    }

    /** Looks at once at what the ranks wait for, because another rank has left. */
    void look() {
        watchdog.wake();
    }

    UserThreads threads() {
        return threads;
    }

    /** Returns the failure of the group, which has not happened while it works. */
    public FirstFailure firstFailure() {
        return failure;
    }

    /** Starts a deadline on the clock of the communicator. */
    public Deadline deadline(Duration timeout) {
        return comm.deadline(timeout);
    }

    /** Returns why the group has ended, or null. */
    public Failure failure() {
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
    public NcclWork submit(NcclWork.Title title, NcclJob job, Duration timeout) {
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
            throw new IllegalStateException(identity().during(title.name())
                    + ": a whole call was made inside grouped: make raw calls there, and whole calls after it");
        }
        synchronized (this) {
            refuse(title.name());
            NcclWork work = new NcclWork(this, title, numbered(title, 0) + 1, job, deadline(timeout));
            // before NCCL can refuse the call
            control.called(title, work.number());
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
    public void refuse(NcclOperation operation) {
        refuse(operation.label());
    }

    private synchronized void refuse(String call) {
        if (closing) {
            throw new IllegalStateException(identity().during(call) + ": the group is closed: join again");
        }
        failure.refuse(call);
    }

    /** Returns the operation that the ranks wait for now, or null. */
    public synchronized NcclWork oldest() {
        while (!pending.isEmpty() && pending.peek().isDone()) {
            pending.poll();
        }
        return pending.peek();
    }

    synchronized List<NcclWork> pending() {
        return new ArrayList<>(pending);
    }

    /** Returns the number of the last collective that has ended well, 0 before the first. */
    @Override
    public long ended() {
        return lastEnded;
    }

    void ended(NcclWork work) {
        synchronized (this) {
            if (pending.peek() == work) {
                pending.poll();
            } else {
                pending.remove(work);
            }
            if (!work.title().isMessage() && !work.hasFailed()) {
                lastEnded = Math.max(lastEnded, work.sequence());
            }
            notifyAll();
        }
        control.group().exits().confirm();
    }

    // raw calls, which have no work that is waited for

    /** Registers a raw call that will be made. Until its stream is synchronised, NCCL is polled for failures. */
    public void rawCall(NcclOperation operation, long stream) {
        lastRaw = operation;
        if (rawStreams.add(stream)) {
            watchdog.watchRaw();
        }
    }

    /** Removes the raw calls of a stream, which have passed or failed. */
    public void rawPassed(long stream) {
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

    /** Returns the last raw call. */
    NcclOperation lastRaw() {
        return lastRaw;
    }

    // failing

    /** Ends the group, unless it has ended; see {@link FirstFailure#fail}. */
    public void fail(Failure why) {
        failure.fail(why);
    }

    /** Waits until an operation of a failed group has ended. */
    void settled(NcclWork work) {
        work.awaitQuietly(deadline(SETTLE_BOUND));
    }

    synchronized void keepReachable(NcclJob job) {
        reachable.add(job);
    }

    /** Returns whether the device may still use memory of abandoned operations. */
    public synchronized boolean hasAbandoned() {
        return !reachable.isEmpty();
    }

    /** Makes sure that the deadline of a work is watched while a caller waits for it. */
    void nudge(NcclWork work) {
        if (work.deadline().passed()) {
            watchdog.wake();
        }
    }

    // ending

    @Override
    public synchronized boolean refuse() {
        boolean firstTime = !closing;
        closing = true;
        return firstTime;
    }

    @Override
    public synchronized void finish(long untilNanos) {
        boolean interrupted = false;
        long left = 1;
        while (!isIdle() && left > 0) {
            try {
                left = untilNanos - deadline(Duration.ZERO).nowNanos();
                TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LOOK_NANOS));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isIdle() {
        return oldest() == null;
    }

    @Override
    public String callInFlight() {
        NcclWork oldest = oldest();
        if (oldest == null) {
            return "";
        }
        NcclWork.Title title = oldest.title();
        if (!title.isMessage()) {
            return title.name() + " seq " + oldest.sequence();
        }
        return title.name() + (title.operation() == NcclOperation.RECV ? " from rank " : " to rank ") + title.peer();
    }

    /** Ends the watchdog. Operations that are still pending will never be polled again. */
    public void end() {
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
}

package ferro.backend.nccl.queue;

import ferro.FerroException;
import ferro.control.failure.Failure;
import ferro.control.group.GroupDeparture;
import java.time.Duration;

/**
 * The queue of the operations of one rank. After a failure, {@link GroupFailureState} ends the operations.
 *
 * <p>Any thread may submit operations. An operation gets its position in the queue and its sequence number, and is
 * submitted to the device thread, in one atomic step.
 */
public final class WorkQueue implements GroupDeparture.OpenCalls {
    private final AbortableComm comm;
    private final ControlMessenger control;
    private final PendingWorks pending = new PendingWorks();
    private final Watchdog watchdog;
    private final GroupFailureState failure;
    private boolean closing;

    /** Opens a queue with its control messages and its watchdog. */
    public WorkQueue(AbortableComm comm, ControlMessenger control) {
        this.comm = comm;
        this.control = control;
        this.failure = new GroupFailureState(pending, comm, control.group(), this::look);
        this.watchdog = new Watchdog(failure, control);
        control.open(failure, watchdog::wake);
        watchdog.start();
    }

    private void look() {
        watchdog.wake();
    }

    /** Returns the recorder, which records every operation of this queue. */
    public NcclRecorder recording() {
        return failure.recording();
    }

    /** Returns group, rank and device. */
    public CommIdentity identity() {
        return comm.identity();
    }

    /** Returns the control messages between the ranks, which are not sent through NCCL. */
    public ControlMessenger control() {
        return control;
    }

    /** Returns the failure state of the group. It contains no failure while the group works. */
    public GroupFailureState firstFailure() {
        return failure;
    }

    /** Starts a deadline on the clock of the communicator. */
    public Deadline deadline(Duration timeout) {
        return comm.deadline(timeout);
    }

    /** Returns the failure that has ended the group, or null. */
    public Failure failure() {
        return failure.get();
    }

    /**
     * Queues an operation with a timeout.
     *
     * @throws FerroException        if the group has failed
     * @throws IllegalStateException if the group is closed, or if this is the device thread
     */
    public NcclWork submit(OperationInfo title, NativeOperation job, Duration timeout) {
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

    private NcclWork enqueue(OperationInfo title, NativeOperation job, Duration timeout) {
        if (comm.thread().isCurrent()) {
            throw new IllegalStateException(identity().during(title.name())
                    + ": a whole call was made inside grouped: make raw calls there, and whole calls after it");
        }
        synchronized (this) {
            refuse(title.name());
            // recorded before NCCL can refuse the call
            long number = control.called(title);
            NcclWork work = new NcclWork(failure, title, number, job, deadline(timeout));
            synchronized (pending) {
                // the lock prevents that the operation ends before it is added, because the end needs this lock
                comm.thread().submit(work);
                pending.add(work);
            }
            return work;
        }
    }

    /** Throws if no more operations may start, because the group has failed or is closed. */
    public void refuse(NcclOperation operation) {
        refuse(operation.label());
    }

    private synchronized void refuse(String call) {
        if (closing) {
            throw new IllegalStateException(identity().during(call) + ": the group is closed: join again");
        }
        failure.refuse(call);
    }

    /**
     * Registers a raw call before it is made. Until the stream of the call is synchronized, the watchdog polls NCCL for
     * failures.
     */
    public void rawCall(NcclOperation operation, long stream) {
        if (pending.rawCall(operation, stream)) {
            watchdog.watchRaw();
        }
    }

    /** Removes the raw calls of a stream. Called when these calls have finished or failed. */
    public void rawPassed(long stream) {
        pending.rawPassed(stream);
    }

    /** Ends the group, unless it has ended; see {@link GroupFailureState#fail}. */
    public void fail(Failure why) {
        failure.fail(why);
    }

    /** Returns whether the device may still use memory of abandoned operations. */
    public boolean hasAbandoned() {
        return pending.hasAbandoned();
    }

    @Override
    public synchronized boolean refuse() {
        boolean firstTime = !closing;
        closing = true;
        return firstTime;
    }

    @Override
    public void finish(long untilNanos) {
        pending.await(
                deadline(Duration.ofNanos(untilNanos - deadline(Duration.ZERO).nowNanos())));
    }

    @Override
    public boolean isIdle() {
        return pending.oldest() == null;
    }

    @Override
    public String callInFlight() {
        NcclWork oldest = pending.oldest();
        if (oldest == null) {
            return "";
        }
        OperationInfo title = oldest.title();
        if (!title.isMessage()) {
            return title.name() + " seq " + oldest.sequence();
        }
        return title.name() + (title.operation() == NcclOperation.RECV ? " from rank " : " to rank ") + title.peer();
    }

    /** Returns the number of the last collective that has succeeded, 0 before the first. */
    @Override
    public long ended() {
        return pending.lastEnded();
    }

    /** Ends the watchdog. Operations that are still pending are never polled again by it. */
    public void end() {
        try {
            watchdog.end();
            for (NcclWork work : pending.all()) {
                work.abandon(failure.get());
            }
        } finally {
            failure.recording().close();
        }
    }
}

package ferro.backend.nccl.comm;

import ferro.FerroException.Code;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.NcclWork;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.failure.Failures;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Ends a {@link JnaNcclBackend}. It holds no reference to the back end, so that a back end that the caller forgot to
 * close ends in the same way.
 *
 * <p>First it leaves: it takes no more calls, waits for the queued ones, and says goodbye. Then it
 * closes: it destroys the communicator when all ranks have said goodbye, and aborts it at the end of the time
 * ({@link LeavingComm}, {@link CommFamily}).
 */
final class BackendEnding {
    static final Duration BOUND = Duration.ofSeconds(5);
    /** Time that the other ranks get at the end of a JVM to hear of a failure. */
    static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

    private static final Duration SETTLE_BOUND = Duration.ofSeconds(15);

    private final NcclMember member;
    private final WorkQueue queue;
    private final HostStage stage;
    private final BooleanSupplier makesGroup;
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile LeavingComm leaving;

    /**
     * Prepares the end of a group.
     *
     * @param member resources that are given back
     * @param parts  the queue, whose calls must end first, and the stage, which is freed after the streams that use it
     * @param makesGroup whether a newGroup is in progress
     */
    BackendEnding(NcclMember member, OperationParts parts, BooleanSupplier makesGroup) {
        this.member = member;
        this.queue = parts.queue();
        this.stage = parts.stage();
        this.makesGroup = makesGroup;
    }

    /** Registers the group as open: the end of the JVM ends it, if no close does. */
    void opened() {
        member.family().opened(this, member.isJoined());
    }

    void close() {
        close(BOUND);
    }

    /**
     * Takes no more calls, waits for the queued ones, and says goodbye. The first call does this, later calls do
     * nothing.
     */
    void leave(Duration timeout) {
        Deadline bound = queue.deadline(timeout);
        if (!queue.beginClose()) {
            return;
        }
        boolean makes = queue.control().group().agreement().close();
        if (makes && queue.failure() == null) {
            queue.fail(queue.identity()
                    .failure(
                            Code.ABORTED,
                            Set.of(queue.identity().rank()),
                            "rank " + queue.identity().rank() + " closed the group while it made another one",
                            null));
        }
        try {
            awaitWork(bound);
        } finally {
            beginLeave();
        }
    }

    private void awaitWork(Deadline bound) {
        if (!queue.awaitEmpty(bound)) {
            int rank = queue.identity().rank();
            String text = "rank " + rank + " closed the group with work that had not ended after "
                    + bound.lengthMillis() + " ms";
            queue.fail(queue.identity().failure(Code.ABORTED, Set.of(rank), text, null));
        }
        if (queue.failure() != null) {
            queue.firstFailure().awaitSettled(queue.deadline(SETTLE_BOUND));
        }
    }

    /**
     * Handles the exit of the JVM while the group is open: takes no more calls, and fails the group if a signal ends
     * the JVM or a call is in progress. It waits for no rank. {@link #recordLeave} and {@link #close(Duration)} must
     * follow.
     *
     * @param signal name of the signal, empty if there is none
     * @return false if the group is closed or is being closed already
     */
    boolean exit(String signal) {
        if (!queue.beginClose()) {
            return false;
        }
        String call = underWay();
        if (!signal.isEmpty()) {
            long ended = queue.lastSequence();
            // if this half has done nothing, the other half knows better how far the rank has come
            if (!queue.firstFailure().isCoupled() || !call.isEmpty() || ended > 0) {
                queue.fail(Failures.endedBySignal(queue.identity().rank(), signal, call, ended));
            }
        } else if (!call.isEmpty()) {
            queue.fail(Failures.exits(queue.identity().rank(), call));
        }
        return true;
    }

    private String underWay() {
        NcclWork oldest = queue.oldest();
        if (oldest == null) {
            return makesGroup.getAsBoolean() ? NcclOperation.NEW_GROUP.label() : "";
        }
        NcclWork.Title title = oldest.title();
        String name = title.name();
        if (!title.isMessage()) {
            return name + " seq " + oldest.sequence();
        }
        return name + (title.operation() == NcclOperation.RECV ? " from rank " : " to rank ") + title.peer();
    }

    /** Says goodbye after {@link #exit}. After a failure it first waits until the failure is handled. */
    void recordLeave(Duration timeout) {
        if (queue.failure() != null) {
            queue.firstFailure().awaitSettled(queue.deadline(timeout));
        }
        beginLeave();
    }

    private synchronized void beginLeave() {
        if (leaving == null) {
            leaving = new LeavingComm(queue, member.comm(), queue.control().leave());
        }
    }

    boolean hasFailed() {
        return queue.failure() != null;
    }

    String threadName(String role) {
        return queue.identity().threadName(role);
    }

    /** Leaves, if that is not done yet, and closes. The first call does this, later calls do nothing. */
    void close(Duration timeout) {
        Deadline bound = queue.deadline(timeout);
        leave(timeout);
        LeavingComm own = leaving;
        if (own == null || !closing.compareAndSet(false, true)) {
            return;
        }
        CommFamily family = member.family();
        if (family.leaves(own, member.isJoined())) {
            endAll(own, family.left(), bound);
        } else if (queue.failure() != null) {
            own.end(bound);
            family.ended(own);
        } else {
            own.endByItself(() -> family.ended(own));
        }
        queue.end();
        if (!queue.hasAbandoned()) {
            stage.close();
        }
        member.release();
        family.closed(this);
    }

    /**
     * Waits for the own communicator first: a rank that has said goodbye here has also said it to the groups that were
     * closed before. After a failure it waits a moment in which the other ranks hear of it.
     */
    private void endAll(LeavingComm own, List<LeavingComm> others, Deadline bound) {
        Duration left = Duration.ofNanos(bound.remainingNanos());
        own.await(queue.failure() == null ? bound : queue.deadline(shorter(AFTER_FAILURE, left)));
        for (LeavingComm one : others) {
            one.await(bound);
        }
        own.end(bound);
        for (LeavingComm one : others) {
            one.end(bound);
            member.family().ended(one);
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}

package ferro.backend.nccl.comm;

import ferro.FerroException.Code;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.FailureRecords;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.NcclWork;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.failure.Failure;
import ferro.control.failure.Failures;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Ends a {@link JnaNcclBackend}. It holds no reference to the back end, so that a back end that the caller forgot to
 * close ends in the same way.
 *
 * <p>First it leaves: it takes no more calls, waits for the queued ones, and writes the goodbye to the store. Then it
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
    private volatile boolean hasLeft;

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
        try {
            awaitWork(bound);
            queue.recordLeave();
        } finally {
            // a close gives back its resources also after a failure
            hasLeft = true;
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
            if (!queue.records().isControlled() || !call.isEmpty() || ended > 0) {
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

    /**
     * Says goodbye after {@link #exit}. After a failure it first waits until the failure is handled and until the calls
     * of the other ranks have ended with it: the launcher may end the other ranks as soon as this one has exited.
     */
    void recordLeave(Duration timeout) {
        if (queue.failure() != null) {
            queue.firstFailure().awaitSettled(queue.deadline(timeout));
            if (!queue.records().isControlled()) {
                queue.records().awaitAllHeardFailure(queue.deadline(shorter(AFTER_FAILURE, timeout)));
            }
        }
        queue.recordLeave();
        hasLeft = true;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
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
        if (!hasLeft || !closing.compareAndSet(false, true)) {
            return;
        }
        CommFamily family = member.family();
        LeavingComm own = new LeavingComm(queue, member.comm());
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
     * closed before.
     */
    private void endAll(LeavingComm own, List<LeavingComm> others, Deadline bound) {
        boolean all = own.await(bound);
        for (LeavingComm one : others) {
            all &= one.await(bound);
        }
        if (queue.identity().worldSize() > 1) {
            partFromStore(all, bound);
        }
        own.end(bound);
        for (LeavingComm one : others) {
            one.end(bound);
            member.family().ended(one);
        }
    }

    /**
     * Says that this rank does not need the store any more. The rank that serves the store stays until all ranks have
     * said so. After a failure it stays until all ranks have left, since they read the failure in the store, unless
     * another half of the group tells them.
     */
    private void partFromStore(boolean all, Deadline bound) {
        FailureRecords records = queue.records();
        boolean serves = member.isJoined() && member.store().servedHere();
        CompletableFuture<Boolean> done;
        CountDownLatch asked = new CountDownLatch(1);
        if (all) {
            done = records.heardAll(asked);
            bound.awaitQuietly(asked);
        } else if (serves && !records.isControlled()) {
            List<Integer> lost = lost();
            done = records.follow(() -> records.leaveLog().completeBut(lost), false);
        } else {
            return;
        }
        if (serves) {
            CountDownLatch over = new CountDownLatch(1);
            done.thenRun(over::countDown);
            bound.awaitQuietly(over);
        }
    }

    /** Returns the ranks that are known to be lost: they say no goodbye. */
    private List<Integer> lost() {
        Failure why = queue.failure();
        return why != null && why.code() == Code.PEER_LOST ? List.copyOf(why.culprits()) : List.of();
    }
}

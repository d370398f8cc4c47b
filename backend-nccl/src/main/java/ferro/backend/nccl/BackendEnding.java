package ferro.backend.nccl;

import ferro.FerroException.Code;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * The end of a {@link JnaNcclBackend}, which it does not refer to: a back end that was forgotten ends in the same way.
 *
 * <p>First it leaves: no more calls, the queued ones end, and the goodbye stands in the store. Then it closes: the communicator
 * is destroyed when all ranks have said goodbye, and aborted at the end of the time ({@link Leaving}, {@link Family}).
 */
final class BackendEnding {
    static final Duration BOUND = Duration.ofSeconds(5);
    /** At the end of a JVM the others are given so long to hear of a failure. */
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
     * @param member what is given back
     * @param queue  what is emptied first
     * @param stage  freed after the streams that use it
     * @param makesGroup whether a newGroup is under way
     */
    BackendEnding(NcclMember member, WorkQueue queue, HostStage stage, BooleanSupplier makesGroup) {
        this.member = member;
        this.queue = queue;
        this.stage = stage;
        this.makesGroup = makesGroup;
    }

    void close() {
        close(BOUND);
    }

    /** Takes no more calls, waits for the queued ones, and says goodbye; the first call does it, the others do nothing. */
    void leave(Duration timeout) {
        Deadline bound = queue.deadline(timeout);
        if (!queue.beginClose()) {
            return;
        }
        try {
            awaitWork(bound);
            queue.goodbye();
        } finally {
            // whatever went wrong, a close gives back what there is
            hasLeft = true;
        }
    }

    private void awaitWork(Deadline bound) {
        if (!queue.awaitEmpty(bound)) {
            String rank = Integer.toString(queue.place().rank());
            String text = "rank " + rank + " closed the group with work that had not ended after "
                    + bound.lengthMillis() + " ms";
            queue.fail(new GroupFailure(Code.ABORTED, rank, text, null));
        }
        if (queue.failure() != null) {
            queue.awaitSettled(queue.deadline(SETTLE_BOUND));
        }
    }

    /**
     * The JVM ends with the group open: takes no more calls, and fails the group where a signal ends the JVM or a call is under
     * way. Waits for nobody; {@link #goodbye} and {@link #close(Duration)} must follow.
     *
     * @param signal empty where there is none
     * @return false if it is closed, or is being closed, already
     */
    boolean exit(String signal) {
        if (!queue.beginClose()) {
            return false;
        }
        String call = underWay();
        if (!signal.isEmpty()) {
            long ended = queue.lastSequence();
            // where this half has done nothing, the other one knows better how far the rank has come
            if (!queue.notes().isControlled() || !call.isEmpty() || ended > 0) {
                queue.fail(GroupFailure.endedBySignal(queue.place().rank(), signal, call, ended));
            }
        } else if (!call.isEmpty()) {
            queue.fail(GroupFailure.exits(queue.place().rank(), call));
        }
        return true;
    }

    private String underWay() {
        NcclWork oldest = queue.oldest();
        if (oldest == null) {
            return makesGroup.getAsBoolean() ? NcclOperation.NEW_GROUP.label() : "";
        }
        NcclWork.Title title = oldest.title();
        String label = title.operation().label();
        if (!title.isMessage()) {
            return label + " seq " + oldest.sequence();
        }
        return label + (title.operation() == NcclOperation.RECV ? " from rank " : " to rank ") + title.peer();
    }

    /**
     * Says goodbye after {@link #exit}. After a failure it waits until that has done its work, and until the calls of the others
     * have ended with it: whoever started the ranks may end them as soon as this one has gone.
     */
    void goodbye(Duration timeout) {
        if (queue.failure() != null) {
            queue.awaitSettled(queue.deadline(timeout));
            if (!queue.notes().isControlled()) {
                queue.notes().awaitAllHeardFailure(queue.deadline(shorter(AFTER_FAILURE, timeout)));
            }
        }
        queue.goodbye();
        hasLeft = true;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    boolean hasFailed() {
        return queue.failure() != null;
    }

    String threadName(String role) {
        return queue.place().threadName(role);
    }

    /** Leaves, if that is not done, and closes; the first call does it, the others do nothing. */
    void close(Duration timeout) {
        Deadline bound = queue.deadline(timeout);
        leave(timeout);
        if (!hasLeft || !closing.compareAndSet(false, true)) {
            return;
        }
        Family family = member.family();
        Leaving own = new Leaving(queue);
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

    /** The own one first: who has said goodbye here has said it to the groups that were closed before. */
    private void endAll(Leaving own, List<Leaving> others, Deadline bound) {
        boolean all = own.await(bound);
        for (Leaving one : others) {
            all &= one.await(bound);
        }
        if (queue.place().worldSize() > 1) {
            partFromStore(all, bound);
        }
        own.end(bound);
        for (Leaving one : others) {
            one.end(bound);
            member.family().ended(one);
        }
    }

    /**
     * Says that this rank needs the store no more. The one that serves it stays until all have said so; after a failure until
     * all have left, since they read there what has happened, unless another half of the group tells them.
     */
    private void partFromStore(boolean all, Deadline bound) {
        GroupNotes notes = queue.notes();
        boolean serves = member.isJoined() && member.store().servedHere();
        CompletableFuture<Boolean> done;
        CountDownLatch asked = new CountDownLatch(1);
        if (all) {
            done = notes.heardAll(asked);
            bound.awaitQuietly(asked);
        } else if (serves && !notes.isControlled()) {
            List<Integer> lost = lost();
            done = notes.follow(() -> notes.goodbyes().completeBut(lost), false);
        } else {
            return;
        }
        if (serves) {
            CountDownLatch over = new CountDownLatch(1);
            done.thenRun(over::countDown);
            bound.awaitQuietly(over);
        }
    }

    /** Ranks that are known to be gone say no goodbye. */
    private List<Integer> lost() {
        GroupFailure why = queue.failure();
        return why != null && why.code() == Code.PEER_LOST ? GroupFailure.ranks(why.culprits()) : List.of();
    }
}

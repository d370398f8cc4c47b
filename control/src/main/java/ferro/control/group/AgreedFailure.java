package ferro.control.group;

import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.SuspectReport;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.MergedCause;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/**
 * The failure of a group, on which all ranks agree. This rank merges every cause that it detects or receives. This rank
 * sends every change of code or culprits to its neighbours before any of its callers receives the failure. The
 * neighbours forward the change, so the failure reaches all ranks. Thread-safe; only {@link #awaitTold} waits.
 */
final class AgreedFailure {
    private static final long POLL_NANOS = 50_000;
    /** The largest number of polls. All polls together take a second, so a wait for a thread that is stopped ends. */
    private static final int MOST_POLLS = 20_000;

    private final ControlSender sender;
    private final FailurePolicy rules;
    private final LongSupplier clock;
    private final FailureListener listener;
    private final MergedCause first;
    private final AtomicBoolean listenerTold = new AtomicBoolean();
    /** Ranks that ended soon after the first cause of the failure. */
    private final BitSet endedEarly = new BitSet();
    /** The last failure that was sent again, or null. */
    private Failure sentAgain;

    /** Whether callers may receive the failure, because the failure was sent to the neighbours before. */
    private volatile boolean told;

    /**
     * A listener for the failure of the group. {@link #beforeCallersHear} and {@link #failed} are called after the
     * failure was sent to the neighbours.
     */
    interface FailureListener {
        /**
         * Adds dead ranks that another rank has reported to the lost ranks, before any caller receives the cause; any
         * thread.
         *
         * @param ranks culprits of a failure, and other dead ranks
         */
        void died(Set<Integer> ranks);

        /**
         * Adds the culprits that are known to be dead to the lost ranks, before any caller receives the cause; any
         * thread.
         *
         * @param cause cause that this rank has detected or that another rank has sent
         * @return culprits that are known to be dead; empty if the cause is not the loss of a rank
         */
        Set<Integer> blamed(Failure cause);

        /** Handles a cause before the threads that wait in calls receive the cause. Called on any thread. */
        void beforeCallersHear();

        /**
         * Handles a change of the cause on which ranks agree; any thread.
         *
         * @param agreed  cause on which ranks agree now
         * @param isFirst whether the group had not failed before
         */
        void failed(Failure agreed, boolean isFirst);
    }

    AgreedFailure(ControlSender sender, FailurePolicy rules, LongSupplier clock, FailureListener listener) {
        this.sender = sender;
        this.rules = rules;
        this.clock = clock;
        this.listener = listener;
        this.first = new MergedCause(rules);
    }

    /** Returns whether each rank sends a failure to all other ranks, because the group is small. */
    boolean sendsToAll() {
        return sender.isSmall();
    }

    /** Returns this rank. */
    int self() {
        return sender.group().rank();
    }

    /** Returns the policy for failures. */
    FailurePolicy rules() {
        return rules;
    }

    /** Returns the cause on which ranks have agreed so far, or null if the group has not failed. */
    Failure cause() {
        return told ? first.cause() : null;
    }

    /** Returns whether the group has failed. */
    boolean isKnown() {
        return told;
    }

    /**
     * Fails the group and notifies the neighbours. A cause that this rank detects more than 50 ms after the first cause
     * is a consequence and changes nothing.
     */
    void fail(Failure cause) {
        listener.blamed(cause);
        changed(first.seen(cause.asSeenByOthers(), clock.getAsLong()), true);
    }

    /**
     * Adds a cause that is part of the known cause, even if this rank detects the part late. For example, if the known
     * cause is the end of a process, the end of another rank of this process is a part.
     */
    void failAsPart(Failure cause) {
        listener.blamed(cause);
        changed(first.seenPart(cause.asSeenByOthers(), clock.getAsLong()), true);
    }

    /**
     * Fails the group if no cause is known. This method is for weak evidence, such as a rank that has closed the group,
     * and for a failure at the user's request. Any known cause explains the evidence, even a cause that another thread
     * is just sending.
     */
    void failUnlessFailed(Failure cause) {
        listener.blamed(cause);
        changed(first.guessed(cause.asSeenByOthers(), clock.getAsLong()), true);
    }

    /** Waits until another thread has sent a failure to the neighbours, at most a second, so that later calls fail. */
    void awaitTold() {
        for (int polls = 0; !told && first.cause() != null && polls < MOST_POLLS; polls++) {
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Handles a failure that another rank has sent. */
    void heard(Abort said) {
        Failure failure = said.failure();
        listener.died(said.dead());
        listener.blamed(failure);
        changed(first.told(failure, clock.getAsLong() - said.ageNanos()), false);
        sendAgainForEnded();
    }

    /**
     * Sends dead ranks that the failure does not name to the neighbours. The neighbours forward each new death. Returns
     * the dead ranks that fit into the message.
     */
    Set<Integer> sendDead(Set<Integer> ranks) {
        Failure known = first.cause();
        Abort message = first.message(known, ranks, clock.getAsLong());
        sender.sendToNeighbours(message, peer -> rules.forwards(known, peer));
        return message.dead();
    }

    /**
     * Handles the end of a rank whose messages were all read. A rank may end before it has sent the text of a loss to
     * all ranks. Therefore each rank that has received the text sends the loss again.
     */
    void hasEnded(int rank) {
        if (first.mayBeSending(clock.getAsLong())) {
            synchronized (endedEarly) {
                endedEarly.set(rank);
            }
            sendAgainForEnded();
        }
    }

    private void sendAgainForEnded() {
        Failure known = cause();
        boolean again = false;
        synchronized (endedEarly) {
            if (known != null && known.isLoss() && known != sentAgain && endedEarly.get(known.origin())) {
                sentAgain = known;
                again = true;
            }
        }
        if (again) {
            sender.sendToNeighbours(message(known), peer -> rules.forwards(known, peer));
        }
    }

    /** Sends the failure, if the group has failed, to a rank that may have missed the failure. */
    void tell(int peer) {
        Failure known = cause();
        if (known != null) {
            sender.tell(peer, message(known));
        }
    }

    /** Sends the failure, if the group has failed, unless the rank has already received the failure as a neighbour. */
    void sendUnlessNeighbour(int peer) {
        if (!sender.neighbours().isNeighbour(peer)) {
            tell(peer);
        }
    }

    /**
     * Sends the failure, if the group has failed, to a new neighbour. This method also sends a failure that another
     * thread is just sending to the neighbours, because the other thread may not include the new neighbour.
     *
     * @return whether the group has failed
     */
    boolean sendToNew(int peer) {
        Failure known = first.cause();
        if (known != null) {
            sender.tell(peer, message(known));
        }
        return known != null;
    }

    /** Reports lost ranks to another rank, which can determine whether the lost ranks had left. */
    void report(int peer, Failure loss) {
        sender.tell(peer, new SuspectReport(loss));
    }

    private Abort message(Failure known) {
        return first.message(known, listener.blamed(known), clock.getAsLong());
    }

    private void changed(Failure agreed, boolean own) {
        if (agreed == null) {
            return;
        }
        IntPredicate isReached = peer -> own ? rules.floods(agreed, peer) : rules.forwards(agreed, peer);
        sender.sendToNeighbours(message(agreed), isReached);
        try {
            if (!told) {
                listener.beforeCallersHear();
            }
        } finally {
            told = true;
        }
        listener.failed(agreed, listenerTold.compareAndSet(false, true));
    }
}

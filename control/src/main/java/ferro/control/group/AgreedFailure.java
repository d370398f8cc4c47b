package ferro.control.group;

import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.Suspect;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.FirstCause;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;

/**
 * The failure of a group, on which all ranks agree: everything that this rank sees or is told is merged, and every change of
 * code or culprits is sent to the neighbours of this rank before any caller of this rank hears of it. The neighbours do the
 * same, so all ranks hear of it. Thread-safe; only {@link #awaitTold} waits.
 */
final class AgreedFailure {
    private static final long POLL_NANOS = 50_000;
    /** A second: a thread that tells the others and is stopped must not stop this one for ever. */
    private static final int MOST_POLLS = 20_000;

    private final ControlSender sender;
    private final FailurePolicy rules;
    private final LongSupplier clock;
    private final FailureListener listener;
    private final FirstCause first;
    private final AtomicBoolean listenerTold = new AtomicBoolean();
    /** Ranks that have ended soon after the first cause. */
    private final BitSet endedEarly = new BitSet();
    /** The failure that was sent again last. */
    private Failure sentAgain;

    /** Whether callers may hear of the failure: the other ranks were told before. */
    private volatile boolean told;

    /** Hears of the failure of the group after the other ranks were told. */
    interface FailureListener {
        /**
         * Adds ranks that another rank knows to be dead to the lost ranks, before any caller hears of the cause; any thread.
         *
         * @param ranks culprits of a failure, and other dead ranks
         */
        void died(Set<Integer> ranks);

        /**
         * Adds the culprits that are known to be dead to the lost ranks, before any caller hears of the cause; any thread.
         *
         * @param cause that this rank saw or that another rank sent
         * @return culprits that are known to be dead; none if the cause is not the loss of a rank
         */
        Set<Integer> blamed(Failure cause);

        /** Handles a cause that no caller has heard of yet: the threads of this rank are still in their calls; any thread. */
        void beforeCallersHear();

        /**
         * Handles a change of the agreed cause; any thread.
         *
         * @param agreed  cause as known now
         * @param isFirst whether the group had not failed before
         */
        void failed(Failure agreed, boolean isFirst);
    }

    AgreedFailure(ControlSender sender, FailurePolicy rules, LongSupplier clock, FailureListener listener) {
        this.sender = sender;
        this.rules = rules;
        this.clock = clock;
        this.listener = listener;
        this.first = new FirstCause(rules);
    }

    /** Returns whether each rank sends what all have to know to all others. */
    boolean sendsToAll() {
        return sender.isSmall();
    }

    /** Returns this rank. */
    int self() {
        return sender.group().rank();
    }

    /** Returns the decisions for failures. */
    FailurePolicy rules() {
        return rules;
    }

    /** Returns the cause as agreed on now, or null while the group works. */
    Failure cause() {
        return told ? first.cause() : null;
    }

    /** Returns whether the group has failed. */
    boolean isKnown() {
        return told;
    }

    /**
     * Fails the group and tells the neighbours. Causes that this rank sees more than 50 ms after the first cause are
     * consequences and change nothing.
     */
    void fail(Failure cause) {
        listener.blamed(cause);
        changed(first.seen(cause.asSeenByOthers(), clock.getAsLong()), true);
    }

    /** Adds a part of the known cause, whenever seen: the end of another rank of a process whose end is the cause. */
    void failAsPart(Failure cause) {
        listener.blamed(cause);
        changed(first.seenPart(cause.asSeenByOthers(), clock.getAsLong()), true);
    }

    /**
     * Fails the group because of weak evidence, such as a rank that has closed its end, or at the user's request. Any
     * other known cause explains it, even one that is just being told to the others.
     */
    void failUnlessFailed(Failure cause) {
        listener.blamed(cause);
        changed(first.guessed(cause.asSeenByOthers(), clock.getAsLong()), true);
    }

    /** Waits some milliseconds for another thread that is telling ranks of a failure, so that later calls fail. */
    void awaitTold() {
        for (int polls = 0; !told && first.cause() != null && polls < MOST_POLLS; polls++) {
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Handles the message of a rank that the group has failed. */
    void heard(Abort said) {
        Failure failure = said.failure();
        listener.died(said.dead());
        listener.blamed(failure);
        changed(first.told(failure, clock.getAsLong() - said.ageNanos()), false);
        sendAgainForEnded();
    }

    /**
     * Sends dead ranks that the failure does not name to the neighbours, which forward what is new to them. Returns those that
     * fit into the message.
     */
    Set<Integer> sendDead(Set<Integer> ranks) {
        Failure known = first.cause();
        Abort message = first.message(known, ranks, clock.getAsLong());
        sender.sendToNeighbours(message, peer -> rules.forwards(known, peer));
        return message.dead();
    }

    /**
     * Handles the end of a rank after its messages were read. The rank may have ended before it had sent the text of a loss
     * to all ranks, so a rank that has this text sends it again.
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

    /** Tells a rank of the failure, if there is one: it may have missed it. */
    void tell(int peer) {
        Failure known = cause();
        if (known != null) {
            sender.tell(peer, message(known));
        }
    }

    /** Sends the failure, if there is one, to a rank that is no neighbour: a neighbour has received it before. */
    void sendUnlessNeighbour(int peer) {
        if (!sender.neighbours().isNeighbour(peer)) {
            tell(peer);
        }
    }

    /**
     * Sends the failure, if there is one, to a new neighbour: also a failure that another thread is just sending to the
     * neighbours, because that thread may not know the new one.
     *
     * @return whether there is a failure
     */
    boolean sendToNew(int peer) {
        Failure known = first.cause();
        if (known != null) {
            sender.tell(peer, message(known));
        }
        return known != null;
    }

    /** Reports lost ranks to a rank that knows whether they had left. */
    void report(int peer, Failure loss) {
        sender.tell(peer, new Suspect(loss));
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

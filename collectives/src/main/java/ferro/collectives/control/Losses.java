package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.util.BitSet;
import java.util.function.BooleanSupplier;

/**
 * Links that have ended: who is to blame for it, decided a little later, since what explains it may still be on its
 * way. Timers of the context decide, so that it happens when nobody drives. Thread-safe.
 */
final class Losses {
    /** Data links may end before the control message that says why; so long that message has time to come. */
    private static final long BROKEN_NANOS = 50_000_000L;
    /** So often the word of a rank is looked for before it is judged without. */
    private static final int LOOKS_MOST = 20;
    /** Whoever is called this much later than it wanted has stood still, and has not read meanwhile. */
    private static final long STOOD_STILL_NANOS = 20_000_000L;

    private final GroupControl control;
    private final Leaves leaves;
    private final Machines machines;
    private final BitSet brokenLinks = new BitSet();
    private final BitSet toldAbort = new BitSet();

    Losses(GroupControl control, Leaves leaves, Machines machines) {
        this.control = control;
        this.leaves = leaves;
        this.machines = machines;
    }

    /** A rank has told of a failure: what ends at its end from now on is a consequence. */
    synchronized void toldAbort(int peer) {
        toldAbort.set(peer);
    }

    synchronized boolean hasToldAbort(int peer) {
        return toldAbort.get(peer);
    }

    void broken(int peer, FerroException cause) {
        if (leaves.has(peer)) {
            blameLeaver(peer, cause);
            return;
        }
        synchronized (this) {
            // the links of messages and of collectives may end for different reasons
            int link = 2 * peer + (isOfMessages(cause) ? 1 : 0);
            if (brokenLinks.get(link)) {
                return;
            }
            brokenLinks.set(link);
        }
        long ask = control.ask(null);
        // what it says first is why it went; who is dead is known by the end of its control connection
        BooleanSupplier said = () -> leaves.has(peer) || control.hasAnswered(peer, ask);
        afterWord(said, () -> blameLink(peer, cause, ask), BROKEN_NANOS);
    }

    private static boolean isOfMessages(FerroException cause) {
        return cause.where().sequence() < 0;
    }

    private void blameLink(int peer, FerroException cause, long ask) {
        if (leaves.has(peer)) {
            blameLeaver(peer, cause);
        } else if (cause.code() == Code.PEER_LOST && control.hasAnswered(peer, ask)) {
            String text = cause.getMessage() + "; rank " + peer
                    + " answers on its control connection: the link broke, not the rank";
            fallback(of(peer, Code.PARTITION, text, cause));
        } else {
            blameUnanswering(peer, cause, ask);
        }
    }

    /** A rank that is silent while its link ends is not alone where its whole machine is. */
    private void blameUnanswering(int peer, FerroException cause, long ask) {
        BitSet machine = machines.sharing(peer, rank -> !control.hasAnswered(rank, ask));
        if (machine.isEmpty()) {
            fallback(of(peer, cause.code(), cause.getMessage(), cause));
        } else {
            String text = machines.silence(machine) + "; " + cause.getMessage();
            fallback(new Failure(cause.code(), control.self(), -1, Names.list(machine), text, cause));
        }
    }

    /** The end of a leaver's link is no news, unless what it sent in a collective had not come; messages are counted. */
    private void blameLeaver(int peer, FerroException cause) {
        long sequence = cause.where().sequence();
        if (isOfMessages(cause)) {
            leaves.endOfMessages(peer);
        } else if (sequence > 0
                && sequence <= leaves.of(peer).lastSequence()
                && !control.differsFromLeaver(peer, leaves.of(peer))) {
            String text = leaves.text(peer) + ", but not all that it sent in seq " + sequence + " has come: "
                    + cause.getMessage();
            fallback(of(peer, cause.code(), text, cause));
        }
    }

    /** Does something when the inboxes were read for a while; a timer that is late was not alone in standing still. */
    void afterReading(Runnable task, long nanos) {
        long due = control.nanoTime() + nanos;
        control.later(
                () -> {
                    if (control.nanoTime() - due > STOOD_STILL_NANOS) {
                        control.later(task, nanos);
                    } else {
                        task.run();
                    }
                },
                nanos);
    }

    /** Does something when a word has come, which is looked for that time apart, or has not come after {@link #LOOKS_MOST} looks. */
    void afterWord(BooleanSupplier hasCome, Runnable task, long nanos) {
        look(1, hasCome, task, nanos);
    }

    private void look(int number, BooleanSupplier hasCome, Runnable task, long nanos) {
        afterReading(
                () -> {
                    if (number < LOOKS_MOST && !hasCome.getAsBoolean()) {
                        look(number + 1, hasCome, task, nanos);
                    } else {
                        task.run();
                    }
                },
                nanos);
    }

    /** Weak evidence: whatever else is known explains it. */
    private void fallback(Failure possible) {
        control.failUnlessFailed(possible);
    }

    private Failure of(int peer, Code code, String text, FerroException cause) {
        return new Failure(code, control.self(), -1, Integer.toString(peer), text, cause);
    }
}

package ferro.collectives.control;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntToLongFunction;

/** The leave of this rank: which ranks may still lose something if it were gone. Thread-safe. */
public final class Leaving {
    /** When a leave is over. */
    public enum Until {
        /** All know that this rank leaves: for a group that has failed. */
        ALL_HAVE_HEARD,
        /** All have what this rank sent. */
        ALL_HAVE_ALL,
        /** All have left as well: for a rank that serves the others. */
        ALL_HAVE_LEFT
    }

    private final BitSet waitedFor = new BitSet();
    private final IntToLongFunction needsEnded;
    private final IntToLongFunction needsArrived;
    private final Until until;
    private final List<Runnable> then = new ArrayList<>();

    Leaving(IntToLongFunction needsEnded, IntToLongFunction needsArrived, Until until) {
        this.needsEnded = needsEnded;
        this.needsArrived = needsArrived;
        this.until = until;
    }

    Until until() {
        return until;
    }

    synchronized void expect(int peer) {
        waitedFor.set(peer);
    }

    /** A rank says how far it is. */
    void heard(int peer, long ended, long arrived) {
        boolean hasAll = ended >= needsEnded.applyAsLong(peer) && arrived >= needsArrived.applyAsLong(peer);
        if (hasAll && until != Until.ALL_HAVE_LEFT) {
            isOver(peer);
        }
    }

    /** A rank needs nothing of this one any more. */
    void isOver(int peer) {
        synchronized (this) {
            waitedFor.clear(peer);
        }
        takeIfOver().forEach(Runnable::run);
    }

    /** No rank needs anything any more. */
    void end() {
        synchronized (this) {
            waitedFor.clear();
        }
        takeIfOver().forEach(Runnable::run);
    }

    /**
     * Runs something once no rank needs this one any more: at once if that is so, else on the thread that hears of it.
     *
     * @param task must not block; run once
     */
    public void whenOver(Runnable task) {
        synchronized (this) {
            then.add(task);
        }
        takeIfOver().forEach(Runnable::run);
    }

    private synchronized List<Runnable> takeIfOver() {
        if (!waitedFor.isEmpty()) {
            return List.of();
        }
        List<Runnable> all = List.copyOf(then);
        then.clear();
        return all;
    }
}

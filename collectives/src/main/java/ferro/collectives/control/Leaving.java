package ferro.collectives.control;

import java.util.BitSet;
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
    private final boolean untilAllHaveLeft;
    private Runnable then;
    private boolean over;

    Leaving(IntToLongFunction needsEnded, IntToLongFunction needsArrived, boolean untilAllHaveLeft) {
        this.needsEnded = needsEnded;
        this.needsArrived = needsArrived;
        this.untilAllHaveLeft = untilAllHaveLeft;
    }

    synchronized void expect(int peer) {
        waitedFor.set(peer);
    }

    /** A rank says how far it is. */
    void heard(int peer, long ended, long arrived) {
        boolean hasAll = ended >= needsEnded.applyAsLong(peer) && arrived >= needsArrived.applyAsLong(peer);
        if (hasAll && !untilAllHaveLeft) {
            isOver(peer);
        }
    }

    /** A rank needs nothing of this one any more. */
    void isOver(int peer) {
        Runnable task;
        synchronized (this) {
            waitedFor.clear(peer);
            task = takeIfOver();
        }
        if (task != null) {
            task.run();
        }
    }

    /** No rank needs anything any more. */
    void end() {
        Runnable task;
        synchronized (this) {
            waitedFor.clear();
            task = takeIfOver();
        }
        if (task != null) {
            task.run();
        }
    }

    /**
     * Runs something once no rank needs this one any more: at once if that is so, else on the thread that hears of it.
     *
     * @param task must not block; run once
     */
    public void whenOver(Runnable task) {
        Runnable now;
        synchronized (this) {
            then = task;
            now = takeIfOver();
        }
        if (now != null) {
            now.run();
        }
    }

    private Runnable takeIfOver() {
        if (!waitedFor.isEmpty() || then == null || over) {
            return null;
        }
        over = true;
        return then;
    }
}

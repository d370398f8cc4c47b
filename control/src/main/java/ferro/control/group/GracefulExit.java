package ferro.control.group;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntToLongFunction;

/** The leave of this rank. A leave keeps the ranks that may lose data if the process of this rank ends. Thread-safe. */
public final class GracefulExit {
    /** The condition under which the leave of a rank is over. */
    public enum ExitCondition {
        /**
         * The leave ends when all receivers of the goodbye have answered. Used for a group that has failed.
         */
        ALL_HAVE_HEARD,
        /** The leave ends when all receivers of the goodbye have everything that they need from this rank. */
        ALL_HAVE_ALL,
        /** The leave ends when all ranks have left. This condition is for a rank that serves other ranks. */
        ALL_HAVE_LEFT
    }

    private final BitSet waitedFor = new BitSet();
    private final IntToLongFunction needsEnded;
    private final IntToLongFunction needsArrived;
    private final ExitCondition until;
    private final List<Runnable> then = new ArrayList<>();

    GracefulExit(IntToLongFunction needsEnded, IntToLongFunction needsArrived, ExitCondition until) {
        this.needsEnded = needsEnded;
        this.needsArrived = needsArrived;
        this.until = until;
    }

    ExitCondition until() {
        return until;
    }

    synchronized void expect(int peer) {
        waitedFor.set(peer);
    }

    /** Handles the answer of a rank to the goodbye of this rank. The answer has the progress of that rank. */
    void heard(int peer, long ended, long arrived) {
        boolean hasAll = ended >= needsEnded.applyAsLong(peer) && arrived >= needsArrived.applyAsLong(peer);
        if (hasAll && until != ExitCondition.ALL_HAVE_LEFT) {
            isOver(peer);
        }
    }

    /** Records that a rank needs nothing more from this rank. */
    void isOver(int peer) {
        synchronized (this) {
            waitedFor.clear(peer);
        }
        takeIfOver().forEach(Runnable::run);
    }

    /** Records that no rank needs anything more from this rank. */
    void end() {
        synchronized (this) {
            waitedFor.clear();
        }
        takeIfOver().forEach(Runnable::run);
    }

    /**
     * Runs a task once no rank needs this rank any more. If no rank needs this rank now, the task runs at once. If a
     * rank still needs this rank, the task later runs on the thread that receives the last answer.
     *
     * @param task task that runs once and must not block
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

package ferro.collectives;

import ferro.spi.RankContext;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The groups that were made from one joined group on one rank: how many are open, and which this rank has left while others may
 * still need something of it. Leaving a group waits for nobody, unless it is the last one: then the process may end, and what
 * is still on its way would end with it. Thread-safe.
 */
final class LeftGroups {
    private final boolean stepped;
    private final Set<Closing> needed = new HashSet<>();
    /** Groups that nobody needs, for whoever closes the last one: nothing is left when its close returns. */
    private final Set<Closing> over = new HashSet<>();

    private int open;

    /** Makes an empty one; where somebody else drives nobody can wait, and every group is released by whoever hears last. */
    LeftGroups(boolean stepped) {
        this.stepped = stepped;
    }

    /** A group was made. */
    synchronized void enter() {
        open++;
    }

    /**
     * A group is left.
     *
     * @param isNeeded whether other ranks may still need it
     * @return whether no other is open, so that the caller waits for all that are needed
     */
    synchronized boolean leave(Closing group, boolean isNeeded) {
        open--;
        if (isNeeded) {
            needed.add(group);
        }
        return open == 0 && !stepped;
    }

    /** No rank needs a group any more; returns whether the caller is to release it. */
    synchronized boolean isOver(Closing group) {
        boolean removed = needed.remove(group);
        if (open > 0 || stepped) {
            return removed;
        }
        if (removed) {
            over.add(group);
            notifyAll();
        }
        return false;
    }

    /** Waits until no group is needed, a time, or an interrupt, whose flag stays set; returns all that are to be released. */
    synchronized List<Closing> await(RankContext context, long untilNanos) {
        try {
            while (!needed.isEmpty()) {
                long left = untilNanos - context.nanoTime();
                if (left <= 0) {
                    break;
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        over.addAll(needed);
        needed.clear();
        List<Closing> all = List.copyOf(over);
        over.clear();
        return all;
    }
}

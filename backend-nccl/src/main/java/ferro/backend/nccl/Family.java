package ferro.backend.nccl;

import ferro.spi.RankContext;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A joined group and the groups made of it, as far as they are ends of this process that live and end together: closing one of
 * them waits for nobody while the joined group is open, since the other ranks may have to be waited for by this one in turn. Who
 * closes the joined group, or what is open after it, waits for all that was closed before as well.
 *
 * <p>Any thread may use it.
 */
final class Family {
    private final Runnable giveBack;
    private final FamilyExit exit;
    private final Set<Leaving> leaving = new LinkedHashSet<>();
    private int joined;
    private int open;

    /**
     * Makes one of no groups yet.
     *
     * @param giveBack gives back what they share, when the last of them is closed
     * @param context  tells of the end of the JVM
     */
    Family(Runnable giveBack, RankContext context) {
        this.giveBack = giveBack;
        this.exit = new FamilyExit(context);
    }

    /** Counts a group in. */
    void opened(BackendEnding group, boolean asJoined) {
        synchronized (this) {
            open++;
            joined += asJoined ? 1 : 0;
        }
        exit.opened(group);
    }

    /**
     * A group is being closed.
     *
     * @param one      what is left of it
     * @param asJoined whether it was joined
     * @return whether its close must wait for the other ranks; else that is left to a later one
     */
    synchronized boolean leaves(Leaving one, boolean asJoined) {
        joined -= asJoined ? 1 : 0;
        if (joined > 0) {
            leaving.add(one);
        }
        return joined == 0;
    }

    /** One that was left to a later close has ended by itself. */
    synchronized void ended(Leaving one) {
        leaving.remove(one);
    }

    /** Returns what was left to this close. */
    synchronized List<Leaving> left() {
        return new ArrayList<>(leaving);
    }

    /** The close of a group is over; the last one gives back what they share. */
    void closed(BackendEnding group) {
        boolean last;
        synchronized (this) {
            open--;
            last = open == 0;
        }
        if (last) {
            giveBack.run();
        }
        exit.closed(group);
    }
}

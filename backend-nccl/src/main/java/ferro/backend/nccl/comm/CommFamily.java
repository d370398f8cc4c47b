package ferro.backend.nccl.comm;

import ferro.spi.RankContext;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A joined group and the groups that were made from it, as far as they belong to this process: they share resources and
 * end together. Closing one of them waits for no rank while the joined group is open, since the other ranks may in turn
 * wait for this one. The close of the joined group, or of a group that is open after it, also waits for all groups that
 * were closed before.
 *
 * <p>Any thread may use it.
 */
final class CommFamily {
    private final Runnable giveBack;
    private final FamilyExit exit;
    private final Set<LeavingComm> leaving = new LinkedHashSet<>();
    private int joined;
    private int open;

    /**
     * Makes an empty family.
     *
     * @param giveBack gives back the shared resources when the last group is closed
     * @param context  reports the end of the JVM
     */
    CommFamily(Runnable giveBack, RankContext context) {
        this.giveBack = giveBack;
        this.exit = new FamilyExit(context);
    }

    /** Adds an open group. */
    void opened(BackendEnding group, boolean asJoined) {
        synchronized (this) {
            open++;
            joined += asJoined ? 1 : 0;
        }
        exit.opened(group);
    }

    /**
     * Begins the close of a group.
     *
     * @param one      what remains of the group
     * @param asJoined whether the group was joined
     * @return whether its close must wait for the other ranks; otherwise a later close waits
     */
    synchronized boolean leaves(LeavingComm one, boolean asJoined) {
        joined -= asJoined ? 1 : 0;
        if (joined > 0) {
            leaving.add(one);
        }
        return joined == 0;
    }

    /** Removes a communicator that was left to a later close and has ended by itself. */
    synchronized void ended(LeavingComm one) {
        leaving.remove(one);
    }

    /** Returns the communicators that were left to this close. */
    synchronized List<LeavingComm> left() {
        return new ArrayList<>(leaving);
    }

    /** Ends the close of a group. The last group gives back the shared resources. */
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

package ferro.collectives.control;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The processes behind a joined group: who is silent, who stands still, who has exited. One per joined group and rank, shared
 * with all its subgroups; it lives until the last of them has left.
 *
 * <p>It has control messages of its own, as a group of all ranks that moves no data, so that it neither ends with the joined
 * group nor waits for anyone. Nothing here waits; timers of the context drive it, virtual ones in a simulation.
 */
public final class Membership {
    private final Map<Member, int[]> members = new ConcurrentHashMap<>();

    /** One rank's end of a group that wants to hear; called on the context's background, nothing may block. */
    public interface Member {
        /**
         * A rank of the group is dead (PEER_LOST) or was silent for too long (PARTITION).
         *
         * @param rank  in the numbers of that group
         * @param cause what the group fails with
         */
        void lost(int rank, FerroException cause);

        /**
         * Something happened to a rank.
         *
         * @param kind SUSPECTED, RECOVERED or PAUSED
         * @param rank in the numbers of that group
         * @param text for people
         */
        void event(GroupEvent.Kind kind, int rank, String text);

        /** A heartbeat is sent: time to tell the others what this rank called last, so that a mismatch is found soon. */
        void heartbeat();
    }

    /**
     * Begins to watch the ranks of a joined group.
     *
     * @param joined   its medium; the membership makes a subgroup of all ranks of it
     * @param group    who
     * @param context  clock, timers, processes, settings of the heartbeats
     * @param identity of the joined group
     * @return membership, to be entered
     */
    public static Membership watching(Transport joined, GroupSpec group, RankContext context, long identity) {
        return new Membership();
    }

    /**
     * Returns a membership that watches nobody: for media without a control lane.
     *
     * @return membership, to be entered
     */
    public static Membership unwatched() {
        return new Membership();
    }

    private Membership() {}

    /**
     * Adds a group.
     *
     * @param member who hears
     * @param ranks  ranks of the joined group, in the order of that group
     */
    public void enter(Member member, int[] ranks) {
        members.put(member, ranks.clone());
    }

    /**
     * Takes a group away; the last one ends the watching.
     *
     * @param member who has entered; another is no harm
     */
    public void leave(Member member) {
        members.remove(member);
    }

    /**
     * Returns how long this process itself stood still, as in a garbage collection or a stop.
     *
     * @param sinceNanos on the context's clock
     * @return nanoseconds from then to now
     */
    public long pausedSince(long sinceNanos) {
        return 0;
    }
}

package ferro;

import java.util.List;

/**
 * Something that happened to a group, for people and for supervisors; only {@link Kind#FAILED} ends it.
 *
 * @param kind  what
 * @param group name of the group
 * @param rank  this rank
 * @param ranks ranks that it is about, in ascending order; empty if unknown
 * @param text  for people: what happened, to whom, in which operation
 */
public record GroupEvent(Kind kind, String group, int rank, List<Integer> ranks, String text) {
    /**
     * Makes an event.
     *
     * @param kind  what
     * @param group name
     * @param rank  this rank
     * @param ranks copied
     * @param text  for people
     */
    public GroupEvent {
        ranks = List.copyOf(ranks);
    }

    /** What happened. */
    public enum Kind {
        /** A rank has not been heard of for {@code ferro.heartbeat.suspect}; it may only stand still. */
        SUSPECTED,
        /** A suspected rank has been heard of again. */
        RECOVERED,
        /** A rank's whole process stood still for a while, as in a garbage collection, and goes on. */
        PAUSED,
        /** An operation waits for a quarter of its deadline; the ranks are those that it waits for. */
        LATE,
        /** The group has failed; {@code ProcessGroup.failure()} says why. Told once, last. */
        FAILED
    }
}

package ferro;

import java.util.List;

/**
 * An event of a group, for people and for supervisors; only {@link Kind#FAILED} ends the group.
 *
 * @param kind  kind of event
 * @param group name of the group
 * @param rank  this rank
 * @param ranks ranks that the event concerns, in ascending order; empty if unknown
 * @param text  for people: what happened, to which rank, in which operation
 */
public record GroupEvent(Kind kind, String group, int rank, List<Integer> ranks, String text) {
    /**
     * Makes an event.
     *
     * @param kind  kind of event
     * @param group name
     * @param rank  this rank
     * @param ranks ranks; the event keeps a copy
     * @param text  for people
     */
    public GroupEvent {
        ranks = List.copyOf(ranks);
    }

    /** Kind of event. */
    public enum Kind {
        /** A rank has been silent for {@code ferro.heartbeat.suspect}; it may only be paused. */
        SUSPECTED,
        /** A suspected rank has been heard of again. */
        RECOVERED,
        /** The whole process of a rank was paused for a while, as in a garbage collection, and continues. */
        PAUSED,
        /** An operation has waited for a quarter of its timeout; the ranks are those that it waits for. */
        LATE,
        /**
         * The group has failed; {@code ProcessGroup.failure()} returns the cause. This is the last event, and comes once.
         */
        FAILED
    }
}

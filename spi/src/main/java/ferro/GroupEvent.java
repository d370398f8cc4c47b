package ferro;

import java.util.List;

/**
 * An event of a group, for people and for supervising programs. Only {@link Kind#FAILED} ends the group.
 *
 * @param kind  kind of event
 * @param group name of the group
 * @param rank  this rank
 * @param ranks ranks that the event concerns, in ascending order; empty if unknown
 * @param text  description for people: what happened, to which rank, and in which operation
 */
public record GroupEvent(Kind kind, String group, int rank, List<Integer> ranks, String text) {
    /**
     * Creates an event.
     *
     * @param kind  kind of event
     * @param group name
     * @param rank  this rank
     * @param ranks ranks; the event keeps a copy
     * @param text  description for people
     */
    public GroupEvent {
        ranks = List.copyOf(ranks);
    }

    /** Kind of event. */
    public enum Kind {
        /** A rank has been silent for {@code ferro.heartbeat.suspect}. The rank may be dead or only paused. */
        SUSPECTED,
        /** A suspected rank has sent a message again. */
        RECOVERED,
        /** The process of a rank was paused for a while, for example by a garbage collection, and now continues. */
        PAUSED,
        /**
         * An operation has waited for a quarter of its timeout. The ranks of the event are those that the operation
         * waits for.
         */
        LATE,
        /**
         * The group has failed; {@code ProcessGroup.failure()} returns the cause. This event is sent once, and no event
         * follows it.
         */
        FAILED
    }
}

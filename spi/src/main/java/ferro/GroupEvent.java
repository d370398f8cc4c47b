package ferro;

import java.util.List;
import java.util.Objects;

/** An event of a group, for people and for supervising programs. Only {@link Kind#FAILED} ends the group. */
public final class GroupEvent {
    private final Kind kind;
    private final String group;
    private final int rank;
    private final List<Integer> ranks;
    private final String text;

    private GroupEvent(Kind kind, String group, int rank, List<Integer> ranks, String text) {
        this.ranks = List.copyOf(Objects.requireNonNull(ranks, "ranks"));
        this.kind = Objects.requireNonNull(kind, "kind");
        this.group = Objects.requireNonNull(group, "group");
        this.rank = rank;
        this.text = Objects.requireNonNull(text, "text");
    }

    /**
     * Creates an event. The event keeps a copy of the list of ranks.
     *
     * @param kind kind of event
     * @param group name of the group
     * @param rank this rank
     * @param ranks ranks that the event concerns, in ascending order; empty if unknown
     * @param text description for people: what happened, to which rank, and in which operation
     * @return event
     */
    public static GroupEvent of(Kind kind, String group, int rank, List<Integer> ranks, String text) {
        return new GroupEvent(kind, group, rank, ranks, text);
    }

    /** {@return the kind of event} */
    public Kind kind() {
        return kind;
    }

    /** {@return the name of the group} */
    public String group() {
        return group;
    }

    /** {@return this rank} */
    public int rank() {
        return rank;
    }

    /** {@return the ranks that the event concerns, in ascending order; empty if unknown} */
    public List<Integer> ranks() {
        return ranks;
    }

    /** {@return the description for people: what happened, to which rank, and in which operation} */
    public String text() {
        return text;
    }

    /** Kind of event. */
    public enum Kind {
        /** A rank has been silent for {@code ferro.heartbeat.suspect}. The rank may be dead or only paused. */
        SUSPECTED,
        /** A suspected rank has sent a message again. */
        RECOVERED,
        /**
         * The process of a rank was paused for a while, for example by a garbage collection, and now continues. In a
         * job of more than 33 ranks, only the paused rank and the 32 ranks that monitor the paused rank receive this
         * event.
         */
        PAUSED,
        /**
         * A collective, a message or a {@code newGroup} has waited for a quarter of its timeout. The event contains the
         * ranks that the operation waits for, or the ranks of a cycle that wait for each other.
         */
        LATE,
        /**
         * The group has failed. {@code ProcessGroup.failure()} returns the cause. The event FAILED is sent once, and is
         * the last event of the group.
         */
        FAILED
    }

    @Override
    public String toString() {
        return "GroupEvent[kind=" + kind + ", group=" + group + ", rank=" + rank + ", ranks=" + ranks + ", text=" + text
                + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof GroupEvent that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(kind, group, rank, ranks, text);
    }
}

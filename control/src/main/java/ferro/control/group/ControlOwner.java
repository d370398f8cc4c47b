package ferro.control.group;

import ferro.GroupEvent;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.recorder.ThreadStack;
import java.util.List;

/** The engine of a group, as the control of that group sees it. */
public interface ControlOwner {
    /** Handles the failure of the group; called once, on any thread, after the other ranks were told. */
    void failed();

    /** Handles the goodbye of another rank, or the loss of its messages: both may end a wait for that rank; any thread. */
    void left();

    /**
     * Handles the repeated go-ahead for a message of this rank; any thread.
     *
     * @param peer         rank that receives the message
     * @param announcement number of the announcement of the message
     */
    default void goAhead(int peer, long announcement) {
        // an owner whose messages have no announcements
    }

    /** Receives an event. */
    void event(GroupEvent event);

    /** Logs an event; must not block. */
    void log(GroupEvent event);

    /** Returns the state of this rank, of now or of a little earlier; any thread. */
    RankStatus status();

    /** {@return the threads that are in calls of this group now; any thread} */
    default List<Thread> callers() {
        return List.of();
    }

    /**
     * Records stacks of this rank; any thread.
     *
     * @param reason why the stacks were taken, for people
     * @param stacks of all its threads that are in calls, and of the thread that has joined
     */
    default void record(String reason, List<ThreadStack> stacks) {
        // an owner without a flight recorder
    }

    /** {@return the number of the last collective that has ended on this rank, 0 if none; any thread} */
    long ended();

    /** Returns how many nanoseconds this process stood still since a time of the context's clock. */
    long pausedSince(long sinceNanos);

    /** Returns the decisions for failures. */
    default FailurePolicy rules() {
        return FailurePolicy.SHIPPED;
    }

    /** Returns the size of the largest group in which each rank tells every other rank; the same on all ranks. */
    default int maxMesh() {
        return Overlay.MAX_MESH;
    }
}

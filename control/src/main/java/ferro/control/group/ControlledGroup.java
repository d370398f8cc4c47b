package ferro.control.group;

import ferro.GroupEvent;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.recorder.ThreadStack;
import java.util.List;

/** The engine of a group, from the view of the control of the group. */
public interface ControlledGroup {
    /** Handles the failure of the group. Called once, on any thread, after the failure was sent to the neighbours. */
    void failed();

    /**
     * Handles the goodbye of a rank, or the loss of its messages. A call that waits for the rank may end. Called on any
     * thread.
     */
    void left();

    /**
     * Handles the copy of a go-ahead on the control lane, for a message that this rank sends; any thread.
     *
     * @param peer         rank that receives the message
     * @param announcement number under which the message was announced
     */
    default void goAhead(int peer, long announcement) {
        // an owner whose messages have no announcements
    }

    /** Receives an event. */
    void event(GroupEvent event);

    /** Logs an event. This method must not block. */
    void log(GroupEvent event);

    /** Returns the current or slightly older state of this rank; any thread. */
    RankStatus status();

    /** {@return the threads that are in calls of this group now; any thread} */
    default List<Thread> callers() {
        return List.of();
    }

    /**
     * Records the stacks of threads of this rank; any thread.
     *
     * @param reason reason for which the stacks were taken, for people
     * @param stacks stacks of all threads of this rank that are in calls, and of the thread that has joined
     */
    default void record(String reason, List<ThreadStack> stacks) {
        // an owner without a flight recorder
    }

    /** {@return the number of the last collective that has ended on this rank, 0 if none; any thread} */
    long ended();

    /** Returns for how many nanoseconds this process was paused since a time of the context's clock. */
    long pausedSince(long sinceNanos);

    /** Returns the policy for failures. */
    default FailurePolicy rules() {
        return FailurePolicy.SHIPPED;
    }

    /** Returns the size of the largest group that is a full mesh ({@link Overlay}); the same on all ranks. */
    default int maxMesh() {
        return Overlay.MAX_MESH;
    }
}

package ferro.control.group;

import ferro.control.failure.Machines;
import ferro.recorder.ThreadStack;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The states of one rank in all groups that were created from one joined group. If other ranks wait for this rank in
 * one group, this rank can report in which other group it waits. Thread-safe.
 */
public final class RankStatuses {
    private final List<GroupStatus> seats = new CopyOnWriteArrayList<>();
    /** The stacks of this rank, or null if the rank takes no stacks. */
    private final CallStacks stacks;

    /**
     * The state of a rank in one of the groups.
     *
     * @param group    name of the group
     * @param machines machines of the ranks of the group, which name the ranks
     * @param status   state of the rank in the group
     * @param lastCall number of the last operation that the rank has called in the group
     * @param callers  threads that are in calls of the group
     */
    public record GroupStatus(
            String group,
            Machines machines,
            Supplier<RankStatus> status,
            LongSupplier lastCall,
            Supplier<List<Thread>> callers) {}

    /** Creates an empty set of states. Each group later adds the state of this rank in the group. */
    public RankStatuses() {
        this(new CallStacks());
    }

    private RankStatuses(CallStacks stacks) {
        this.stacks = stacks;
    }

    /** Returns an empty set of states without stacks, for a rank that shares its thread with other ranks. */
    public static RankStatuses withoutStacks() {
        return new RankStatuses(null);
    }

    /** Sets the thread that has joined. Its stack shows what a rank outside of calls executes. */
    void joinedBy(Thread thread) {
        if (stacks != null) {
            stacks.joinedBy(thread);
        }
    }

    /** Returns the current or slightly older stacks of the threads of this rank. */
    List<ThreadStack> stacks(long nowNanos) {
        return stacks == null ? List.of() : stacks.of(seats, nowNanos);
    }

    void enter(GroupStatus seat) {
        seats.add(seat);
    }

    void leave(GroupStatus seat) {
        // compares by identity, because a record links its equals method at first use, which would delay the leave of
        // the rank
        seats.removeIf(one -> one == seat);
    }

    /** An operation in flight and its group. The state is read once, because a second read may return another state. */
    public record ActiveOperation(GroupStatus seat, RankStatus status) {}

    /** Returns a group with an operation in flight, preferably the given group, or null. */
    public ActiveOperation busy(GroupStatus first) {
        RankStatus own = first.status.get();
        if (!own.isIdle()) {
            return new ActiveOperation(first, own);
        }
        for (GroupStatus seat : seats) {
            RankStatus status = seat == first ? RankStatus.IDLE : seat.status.get();
            if (!status.isIdle()) {
                return new ActiveOperation(seat, status);
            }
        }
        return null;
    }
}

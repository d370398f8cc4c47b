package ferro.control.group;

import ferro.control.failure.Machines;
import ferro.recorder.ThreadStack;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The states of one rank in all groups that were made from one joined group, so that a rank that others miss in one of
 * them can report in which other group it waits; thread-safe.
 */
public final class RankStatuses {
    private final List<Seat> seats = new CopyOnWriteArrayList<>();
    /** Null if no stacks are taken. */
    private final CallStacks stacks;

    /**
     * A rank's place in one of the groups.
     *
     * @param group       name
     * @param machines    names of its ranks
     * @param status      state of the rank there
     * @param lastCall    number of the last operation that the rank has called there
     * @param callers     threads that are in calls of that group
     */
    public record Seat(
            String group,
            Machines machines,
            Supplier<RankStatus> status,
            LongSupplier lastCall,
            Supplier<List<Thread>> callers) {}

    /** Makes an empty set of states, to which each group adds its seat. */
    public RankStatuses() {
        this(new CallStacks());
    }

    private RankStatuses(CallStacks stacks) {
        this.stacks = stacks;
    }

    /** Returns an empty set of states of a rank that shares its thread with other ranks, so that it has no stack. */
    public static RankStatuses withoutStacks() {
        return new RankStatuses(null);
    }

    /** Sets the thread that has joined, whose stack says what the rank does while it is in no call. */
    void joinedBy(Thread thread) {
        if (stacks != null) {
            stacks.joinedBy(thread);
        }
    }

    /** Returns the stacks of the threads of this rank, of now or of a little earlier. */
    List<ThreadStack> stacks(long nowNanos) {
        return stacks == null ? List.of() : stacks.of(seats, nowNanos);
    }

    void enter(Seat seat) {
        seats.add(seat);
    }

    void leave(Seat seat) {
        // compares by identity: a record creates its equals at first use, which would be while the rank leaves
        seats.removeIf(one -> one == seat);
    }

    /** An operation under way and its seat. The state is read once, since the next read may be of no operation. */
    public record Busy(Seat seat, RankStatus status) {}

    /** Returns a seat where an operation is under way, preferring the given seat; or null. */
    public Busy busy(Seat first) {
        RankStatus own = first.status.get();
        if (!own.isIdle()) {
            return new Busy(first, own);
        }
        for (Seat seat : seats) {
            RankStatus status = seat == first ? RankStatus.IDLE : seat.status.get();
            if (!status.isIdle()) {
                return new Busy(seat, status);
            }
        }
        return null;
    }
}

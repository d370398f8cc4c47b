package ferro.control.group;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/**
 * The states of one rank in all groups that were made from one joined group, so that a rank that others miss in one of
 * them can report in which other group it waits; thread-safe.
 */
public final class RankStatuses {
    private final List<Seat> seats = new CopyOnWriteArrayList<>();

    /**
     * A rank's place in one of the groups.
     *
     * @param group       name
     * @param joinedRanks ranks of the joined group, in the order of that group
     * @param status      state of the rank there
     */
    public record Seat(String group, int[] joinedRanks, Supplier<RankStatus> status) {}

    /** Makes an empty set of states. */
    public RankStatuses() {
        // each group adds its seat
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

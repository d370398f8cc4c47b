package ferro.collectives.control;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/**
 * Where one rank stands in all groups that were made from one joined group, so that a rank that is missed in one of them can
 * say in which other it waits; thread-safe.
 */
public final class Standings {
    private final List<Seat> seats = new CopyOnWriteArrayList<>();

    /**
     * A rank's place in one of the groups.
     *
     * @param group       name
     * @param joinedRanks ranks of the joined group, in the order of that group
     * @param standing    where it stands there
     */
    public record Seat(String group, int[] joinedRanks, Supplier<Standing> standing) {}

    /** Makes an empty one. */
    public Standings() {
        // seats come with the groups
    }

    void enter(Seat seat) {
        seats.add(seat);
    }

    void leave(Seat seat) {
        // not by equals, which a record makes at its first use, on a rank's way out
        seats.removeIf(one -> one == seat);
    }

    /** Something that is under way, and where; the picture is read once, as the next one may be of nothing. */
    record Busy(Seat seat, Standing standing) {}

    /** Returns a seat where something is under way, the one that asks before others; or null. */
    Busy busy(Seat first) {
        Standing own = first.standing.get();
        if (!own.isIdle()) {
            return new Busy(first, own);
        }
        for (Seat seat : seats) {
            Standing standing = seat == first ? Standing.IDLE : seat.standing.get();
            if (!standing.isIdle()) {
                return new Busy(seat, standing);
            }
        }
        return null;
    }
}

package ferro.collectives.control;

import java.util.ArrayList;
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
        seats.remove(seat);
    }

    /** Returns the seats where something is under way, the one that asks first. */
    List<Seat> busy(Seat first) {
        List<Seat> busy = new ArrayList<>();
        if (!first.standing.get().isIdle()) {
            busy.add(first);
        }
        for (Seat seat : seats) {
            if (seat != first && !seat.standing.get().isIdle()) {
                busy.add(seat);
            }
        }
        return busy;
    }
}

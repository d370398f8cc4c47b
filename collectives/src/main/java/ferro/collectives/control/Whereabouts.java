package ferro.collectives.control;

import ferro.spi.CallHeader;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/** What this rank answers when it is asked where it stands: in this group, or else in another of the same processes. */
final class Whereabouts {
    private final Standings standings;
    private final Standings.Seat seat;
    private final History history;
    private final GroupControl.Owner owner;

    Whereabouts(Standings standings, Standings.Seat seat, History history, GroupControl.Owner owner) {
        this.standings = standings;
        this.seat = seat;
        this.history = history;
        this.owner = owner;
    }

    /** From now on the other groups of this rank's processes hear of it as well. */
    void enter() {
        standings.enter(seat);
    }

    void leave() {
        standings.leave(seat);
    }

    /** Answers a question about an operation, 0 for none. */
    Status status(long ask, long asked) {
        CallHeader call = history.find(asked);
        CallHeader last = history.find(history.last());
        Standings.Busy busy = standings.busy(seat);
        String place = "";
        String waitsFor = "";
        long running = 0;
        long pausedNanos = 0;
        if (busy != null) {
            Standings.Seat there = busy.seat();
            Standing standing = busy.standing();
            place = standing.sentence() + (there == seat ? "" : " of group \"" + there.group() + "\"");
            running = there == seat ? standing.sequence() : 0;
            waitsFor = Names.list(joined(standing.waitingFor(), there.joinedRanks()));
            pausedNanos = owner.pausedSince(standing.begunNanos());
        }
        return new Status(
                ask,
                history.last(),
                last == null ? "" : last.text(),
                running,
                asked,
                call == null ? 0 : call.fingerprint(),
                call == null ? "" : call.text(),
                place,
                waitsFor,
                TimeUnit.NANOSECONDS.toMillis(pausedNanos));
    }

    private static BitSet joined(String ranks, int[] joinedRanks) {
        BitSet joined = new BitSet();
        Names.set(ranks, joinedRanks.length).stream().forEach(rank -> joined.set(joinedRanks[rank]));
        return joined;
    }
}

package ferro.control.group;

import ferro.control.failure.Status;
import ferro.control.wire.RankLists;
import ferro.spi.CallHeader;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * Makes the answers of this rank to questions about its state: in this group, or else in another group of the same
 * processes.
 */
final class StatusResponder {
    private final RankStatuses statuses;
    private final RankStatuses.Seat seat;
    private final History history;
    private final ControlOwner owner;

    StatusResponder(RankStatuses statuses, RankStatuses.Seat seat, History history, ControlOwner owner) {
        this.statuses = statuses;
        this.seat = seat;
        this.history = history;
        this.owner = owner;
    }

    /** Adds this group: from now on the answers in other groups of this rank's processes include it. */
    void enter() {
        statuses.enter(seat);
    }

    void leave() {
        statuses.leave(seat);
    }

    /** Answers a question about an operation, 0 for none. */
    Status status(long ask, long asked) {
        CallHeader call = history.find(asked);
        CallHeader last = history.find(history.last());
        RankStatuses.Busy busy = statuses.busy(seat);
        String place = "";
        String waitsFor = "";
        long running = 0;
        long pausedNanos = 0;
        if (busy != null) {
            RankStatuses.Seat there = busy.seat();
            RankStatus status = busy.status();
            place = status.sentence() + (there == seat ? "" : " of group \"" + there.group() + "\"");
            running = there == seat ? status.sequence() : 0;
            waitsFor = RankLists.list(joined(status.waitingFor(), there.joinedRanks()));
            pausedNanos = owner.pausedSince(status.begunNanos());
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
        RankLists.set(ranks, joinedRanks.length).stream().forEach(rank -> joined.set(joinedRanks[rank]));
        return joined;
    }
}

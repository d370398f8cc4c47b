package ferro.control.group;

import ferro.RankEnd;
import ferro.spi.ControlLane;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * How the processes of dead ranks ended, as their launcher reports it. An end may arrive long after the failure, and
 * nothing waits for it. Thread-safe.
 */
final class RankEnds {
    private final ControlLane lane;
    private final int self;
    private final Set<Integer> asked = ConcurrentHashMap.newKeySet();
    private final Map<Integer, RankEnd> known = new ConcurrentSkipListMap<>();

    RankEnds(ControlLane lane, int self) {
        this.lane = lane;
        this.self = self;
    }

    /** Asks once for the end of each of these ranks that is not this rank. */
    void ask(Collection<Integer> ranks) {
        for (int rank : ranks) {
            if (rank != self && asked.add(rank)) {
                lane.whenEnded(rank, end -> known.put(rank, end));
            }
        }
    }

    Map<Integer, RankEnd> known() {
        return Collections.unmodifiableMap(known);
    }
}

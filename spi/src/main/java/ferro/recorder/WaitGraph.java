package ferro.recorder;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Which rank waits for which ranks. The ranks that keep the others waiting are at the ends of the chains: a rank that
 * others wait for, and that waits for no rank, ends its chain. If no chain has an end, the ranks wait for each other in a
 * cycle.
 *
 * <p>Ranks judge by this graph at a deadline, and {@code ferro analyze} judges their recordings by it. It holds no state of its
 * own, and any thread may call it if the function that it is made of allows that.
 */
public final class WaitGraph {
    private final IntFunction<BitSet> waitsFor;

    /**
     * Makes a graph. The function is called only for ranks that are reached, several times for the same rank.
     *
     * @param waitsFor returns the ranks that a rank waits for, always the same; empty for a rank that waits for none, or of
     *     which nothing is known. Its results are not changed
     */
    public WaitGraph(IntFunction<BitSet> waitsFor) {
        this.waitsFor = waitsFor;
    }

    /**
     * Returns some ranks and all ranks that they wait for, directly or through others.
     *
     * @param first ranks to begin with
     * @return the given ranks, and those reached from them
     */
    public BitSet reachedFrom(BitSet first) {
        BitSet reached = (BitSet) first.clone();
        BitSet open = (BitSet) first.clone();
        while (!open.isEmpty()) {
            int rank = open.nextSetBit(0);
            open.clear(rank);
            BitSet next = (BitSet) waitsFor.apply(rank).clone();
            next.andNot(reached);
            reached.or(next);
            open.or(next);
        }
        return reached;
    }

    /**
     * Returns the ranks at which the chains of waiting ranks end.
     *
     * @param first ranks to begin with
     * @return of the ranks reached from them, those that wait for no rank; empty if all wait
     */
    public BitSet ends(BitSet first) {
        BitSet ends = new BitSet();
        reachedFrom(first).stream()
                .forEach(rank -> ends.set(rank, waitsFor.apply(rank).isEmpty()));
        return ends;
    }

    /**
     * Returns the ranks that wait for themselves, directly or through others. A rank that only waits for such ranks, or is
     * waited for by them, is not one.
     *
     * @param first ranks to begin with
     * @return of the ranks reached from them, those on a cycle; empty if there is none
     */
    public BitSet cycles(BitSet first) {
        BitSet open = reachedFrom(first);
        WaitGraph awaitedBy = reversed(open);
        BitSet cycles = new BitSet();
        while (!open.isEmpty()) {
            int rank = open.nextSetBit(0);
            BitSet cycle = open.intersects(waitsFor.apply(rank)) && open.intersects(awaitedBy.waitsFor.apply(rank))
                    ? cycleOf(rank, awaitedBy)
                    : new BitSet();
            cycles.or(cycle);
            open.clear(rank);
            open.andNot(cycle);
        }
        return cycles;
    }

    /** Returns the ranks that a rank waits for and that wait for it, directly or through others; itself if there are any. */
    private BitSet cycleOf(int rank, WaitGraph awaitedBy) {
        BitSet itself = new BitSet();
        itself.set(rank);
        BitSet cycle = reachedFrom(waitsFor.apply(rank));
        cycle.and(awaitedBy.reachedFrom(itself));
        return cycle;
    }

    /** Returns the graph of which rank is waited for by which, of these ranks. */
    private WaitGraph reversed(BitSet ranks) {
        Map<Integer, BitSet> waiting = new HashMap<>();
        ranks.stream()
                .forEach(rank -> waitsFor.apply(rank).stream()
                        .forEach(awaited -> waiting.computeIfAbsent(awaited, key -> new BitSet())
                                .set(rank)));
        BitSet none = new BitSet();
        return new WaitGraph(rank -> waiting.getOrDefault(rank, none));
    }
}

package ferro.control.failure;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * A graph of the ranks that each rank waits for. The ranks that delay other ranks are at the ends of the chains: a rank
 * that waits for no rank ends its chain. If no chain has an end, the ranks wait for each other in a cycle.
 *
 * <p>At a deadline, ranks find the culprits with this graph. {@code ferro analyze} does the same with the recordings of
 * the ranks. The graph has no state of its own. Any thread may call the graph if any thread may call the function of
 * the graph.
 */
public final class WaitGraph {
    private final IntFunction<BitSet> waitsFor;

    /**
     * Creates a graph. The function is called only for ranks that a search reaches, and may be called several times for
     * the same rank.
     *
     * @param waitsFor returns the ranks that a rank waits for, and always the same ranks. The result is empty for a
     *     rank that waits for no rank, or about which nothing is known. The graph does not change the results
     */
    public WaitGraph(IntFunction<BitSet> waitsFor) {
        this.waitsFor = waitsFor;
    }

    /** Returns some ranks and all ranks that they wait for, directly or through other ranks. */
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
     * @param first ranks at which the search begins
     * @return all reached ranks that wait for no rank; empty if every reached rank waits
     */
    public BitSet ends(BitSet first) {
        BitSet ends = new BitSet();
        reachedFrom(first).stream()
                .forEach(rank -> ends.set(rank, waitsFor.apply(rank).isEmpty()));
        return ends;
    }

    /**
     * Returns the ranks that wait for themselves, directly or through other ranks. A rank that is not on a cycle is not
     * included. This also applies to a rank that waits for a rank on a cycle, and to a rank for which a rank on a cycle
     * waits.
     *
     * @param first ranks at which the search begins
     * @return all reached ranks on a cycle; empty if there is no cycle
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

    /**
     * Returns the ranks that a rank waits for and that also wait for this rank, directly or through other ranks. If
     * there are such ranks, the rank itself is included.
     */
    private BitSet cycleOf(int rank, WaitGraph awaitedBy) {
        BitSet itself = new BitSet();
        itself.set(rank);
        BitSet cycle = reachedFrom(waitsFor.apply(rank));
        cycle.and(awaitedBy.reachedFrom(itself));
        return cycle;
    }

    /** Returns the reversed graph of the given ranks: for each rank, the ranks that wait for it. */
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

package ferro.control.failure;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * A graph of the ranks that each rank waits for. A rank that waits for no rank ends a chain of waiting ranks, and
 * delays the other ranks of the chain. If no chain has an end, ranks wait for each other in a cycle.
 *
 * <p>At a deadline, ranks find the culprits with this graph. {@code ferro analyze} finds culprits with a graph of the
 * waits in recordings. The graph has no state of its own. Any thread may call the graph if any thread may call the
 * function of the graph.
 *
 * <p>A rank may also wait for any of several ranks, for example in a receive from any rank. A rank that waits for any
 * of several ranks can go on as soon as one of the several ranks can. {@link #stuck} finds the ranks that can never go
 * on.
 */
public final class WaitGraph {
    private final IntFunction<BitSet> waitsFor;
    private final IntPredicate waitsForAny;

    /**
     * Creates a graph. The graph calls the function only for ranks that a search reaches, and possibly several times
     * for the same rank.
     *
     * @param waitsFor returns the ranks that a rank waits for, always the same ranks for the same rank. The result is
     *     empty if the rank waits for no rank, or if nothing is known about the rank. The graph does not change the
     *     results
     */
    public WaitGraph(IntFunction<BitSet> waitsFor) {
        this(waitsFor, rank -> false);
    }

    /**
     * Creates a graph in which some ranks wait for any of several ranks.
     *
     * @param waitsFor    returns the ranks that a rank waits for, as for the other constructor
     * @param waitsForAny returns whether one of the ranks that a rank waits for is enough; always the same result for
     *     the same rank
     */
    public WaitGraph(IntFunction<BitSet> waitsFor, IntPredicate waitsForAny) {
        this.waitsFor = waitsFor;
        this.waitsForAny = waitsForAny;
    }

    /**
     * Returns the ranks that can never go on, whatever the running ranks do. A rank that waits for no rank can go on. A
     * rank that waits for several ranks can go on if all of them can. A rank that waits for any of several ranks can go
     * on if one of them can.
     *
     * @param first ranks at which the search begins
     * @return all reached ranks that cannot go on; each waits for ranks on a cycle, or is on a cycle
     */
    public BitSet stuck(BitSet first) {
        BitSet stuck = reachedFrom(first);
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int rank = stuck.nextSetBit(0); rank >= 0; rank = stuck.nextSetBit(rank + 1)) {
                if (canGoOn(rank, stuck)) {
                    stuck.clear(rank);
                    changed = true;
                }
            }
        }
        return stuck;
    }

    private boolean canGoOn(int rank, BitSet stuck) {
        BitSet awaited = waitsFor.apply(rank);
        if (!waitsForAny.test(rank)) {
            return !awaited.intersects(stuck);
        }
        BitSet free = (BitSet) awaited.clone();
        free.andNot(stuck);
        return awaited.isEmpty() || !free.isEmpty();
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
        BitSet reached = reachedFrom(first);
        for (int rank = reached.nextSetBit(0); rank >= 0; rank = reached.nextSetBit(rank + 1)) {
            ends.set(rank, waitsFor.apply(rank).isEmpty());
        }
        return ends;
    }

    /**
     * Returns the ranks that wait for themselves, directly or through other ranks. Only ranks on a cycle are included.
     * A rank that merely waits for a rank on a cycle is not included, nor is a rank that merely delays a rank on a
     * cycle.
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
     * Returns the ranks that a rank waits for and that also wait for that rank, directly or through other ranks. If the
     * rank is on such a cycle, the result includes the rank itself.
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

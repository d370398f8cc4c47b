package ferro.control.failure;

import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * The graph of the ranks of a group over which news reach all ranks: each rank tells its neighbours, and forwards what is
 * new to it.
 *
 * <p>In a small group each rank is a neighbour of every other rank: a full mesh. In a larger group rank r has the
 * neighbours r + 2^i and r - 2^i for each power of two below the size: a circulant graph, whose degree and diameter grow
 * with the logarithm of the size. The next rank in the same direction replaces a neighbour that is gone. So the graph of the
 * other ranks always contains a ring. For the steps above 1 only the next {@value #MAX_REPLACED} ranks do: where many adjacent
 * ranks are gone, the rank behind them would replace them all.
 *
 * <p>As many ranks as the degree less one may end at once, or two hosts of 8 ranks, and the others stay connected without any
 * replacement. Leaves need one: of 64 ranks on hosts of 8, no power of two leads from host 3 to hosts 0 and 6 after the leave
 * of hosts 1, 2, 4, 5 and 7.
 *
 * <p>A pure function of its arguments: every rank computes the same graph from the same ranks that are gone.
 */
public final class Overlay {
    /** All steps of the circulant graph. */
    public static final IntPredicate ALL_STEPS = step -> true;

    /** The size of the largest full mesh. Tests use a smaller one. */
    public static final int MAX_MESH = 33;

    /** The number of adjacent ranks that are passed over for a step above 1. */
    private static final int MAX_REPLACED = 8;

    private final int rank;
    private final int worldSize;
    private final boolean isMesh;
    private final IntPredicate steps;

    /**
     * Makes the graph as one rank sees it.
     *
     * @param rank     this rank
     * @param worldSize number of ranks
     * @param maxMesh largest group in which each rank is a neighbour of every other rank
     * @param steps    powers of two that are steps of the graph: {@link #ALL_STEPS}
     */
    public Overlay(int rank, int worldSize, int maxMesh, IntPredicate steps) {
        this.rank = rank;
        this.worldSize = worldSize;
        this.isMesh = worldSize <= maxMesh;
        this.steps = steps;
    }

    /** Returns whether each rank is a neighbour of every other rank. */
    public boolean isMesh() {
        return isMesh;
    }

    /** Returns whether another rank is a neighbour as long as no rank is gone. */
    public boolean isNeighbour(int peer) {
        int distance = Math.floorMod(peer - rank, worldSize);
        return distance != 0 && (isMesh || isStep(distance) || isStep(worldSize - distance));
    }

    private boolean isStep(int distance) {
        return Integer.bitCount(distance) == 1 && steps.test(distance);
    }

    /**
     * Returns the neighbours of this rank. In a full mesh these are all other ranks, gone or not: no rank replaces another.
     *
     * @param gone ranks that are dead or have left; left as it is
     * @return ranks to tell
     */
    public BitSet neighbours(BitSet gone) {
        BitSet ranks = new BitSet();
        if (isMesh) {
            ranks.set(0, worldSize);
        } else {
            for (long step = 1; step < worldSize; step *= 2) {
                if (steps.test((int) step)) {
                    int searched = step == 1 ? worldSize : MAX_REPLACED;
                    ranks.set(search(step, 1, searched, gone));
                    ranks.set(search(-step, -1, searched, gone));
                }
            }
        }
        ranks.clear(rank);
        return ranks;
    }

    /** Returns the next rank that is there; this rank if there is no other. */
    public int next(BitSet gone) {
        return search(1, 1, worldSize, gone);
    }

    /** Returns the next rank after another one that is there; this rank if there is no other. */
    public int nextAfter(int peer, BitSet gone) {
        return search(Math.floorMod(peer - rank, worldSize) + 1L, 1, worldSize, gone);
    }

    /** Returns the rank before this one that is there; this rank if there is no other. */
    public int previous(BitSet gone) {
        return search(-1, -1, worldSize, gone);
    }

    /** Returns the other ranks after one rank and before another one. */
    public BitSet between(int previous, int next) {
        BitSet between = new BitSet();
        for (int peer = (previous + 1) % worldSize; peer != next; peer = (peer + 1) % worldSize) {
            between.set(peer);
        }
        between.clear(rank);
        return between;
    }

    /** Returns the first of so many ranks that is there, from a distance on, in one direction; this rank if there is none. */
    private int search(long distance, int direction, int count, BitSet gone) {
        int peer = (int) Math.floorMod(rank + distance, (long) worldSize);
        for (int passed = 0; peer != rank && gone.get(peer); passed++) {
            peer = passed < count ? Math.floorMod(peer + direction, worldSize) : rank;
        }
        return peer;
    }
}

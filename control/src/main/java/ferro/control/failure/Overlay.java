package ferro.control.failure;

import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * The graph of the ranks of a group over which failures and leaves reach all ranks. Each rank sends failures and leaves
 * to its neighbours, and forwards each failure or leave that the rank had not received before.
 *
 * <p>In a small group each rank is a neighbour of every other rank: a full mesh. In a larger group rank r has the
 * neighbours r + 2^i and r - 2^i for each power of two below the size. The graph of a larger group is a circulant
 * graph. The degree and the diameter of this graph grow with the logarithm of the size. A neighbour that is gone is
 * replaced by the next rank in the same direction. Therefore the graph of the remaining ranks always contains a ring.
 * For steps above 1, a search passes over at most {@value #MAX_REPLACED} adjacent ranks that are gone. Without this
 * limit, the rank after a long run of gone ranks would replace every rank of the run.
 *
 * <p>If fewer ranks than the degree end at once, or two hosts of 8 ranks, the other ranks stay connected without any
 * replacement. Replacements are needed after many leaves. Assume 64 ranks, of which each host has 8. When the ranks of
 * hosts 1, 2, 4, 5 and 7 have left, no step of a power of two leads from a rank of host 3 to a rank of host 0 or 6.
 *
 * <p>The graph is a pure function of its arguments. Ranks with the same view of which ranks are gone compute the same
 * graph.
 */
public final class Overlay {
    /** The condition that accepts all steps of the circulant graph. */
    public static final IntPredicate ALL_STEPS = step -> true;

    /** The size of the largest group that is a full mesh. Tests set a smaller size. */
    public static final int MAX_MESH = 33;

    /** The maximum number of adjacent gone ranks that a search for a neighbour passes over, for steps above 1. */
    private static final int MAX_REPLACED = 8;

    private final int rank;
    private final int worldSize;
    private final boolean isMesh;
    private final IntPredicate steps;

    /**
     * Creates the graph from the view of one rank.
     *
     * @param rank      this rank
     * @param worldSize number of ranks
     * @param maxMesh   size of the largest group in which each rank is a neighbour of every other rank
     * @param steps     powers of two that are steps of the graph: {@link #ALL_STEPS}
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

    /** Returns whether another rank is a neighbour of this rank in a group from which no rank is gone. */
    public boolean isNeighbour(int peer) {
        int distance = Math.floorMod(peer - rank, worldSize);
        return distance != 0 && (isMesh || isStep(distance) || isStep(worldSize - distance));
    }

    private boolean isStep(int distance) {
        return Integer.bitCount(distance) == 1 && steps.test(distance);
    }

    /**
     * Returns the neighbours of this rank. In a full mesh all other ranks are neighbours, even ranks that are gone,
     * because a full mesh needs no replacements.
     *
     * @param gone ranks that are dead or have left; not changed
     * @return ranks to which this rank sends failures and leaves
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

    /** Returns the next rank that is not gone, or this rank if all other ranks are gone. */
    public int next(BitSet gone) {
        return search(1, 1, worldSize, gone);
    }

    /** Returns the next rank after the given rank that is not gone, or this rank if all other ranks are gone. */
    public int nextAfter(int peer, BitSet gone) {
        return search(Math.floorMod(peer - rank, worldSize) + 1L, 1, worldSize, gone);
    }

    /** Returns the nearest rank before this rank that is not gone, or this rank if all other ranks are gone. */
    public int previous(BitSet gone) {
        return search(-1, -1, worldSize, gone);
    }

    /** Returns the ranks between two ranks in ascending order around the ring, without this rank. */
    public BitSet between(int previous, int next) {
        BitSet between = new BitSet();
        for (int peer = (previous + 1) % worldSize; peer != next; peer = (peer + 1) % worldSize) {
            between.set(peer);
        }
        between.clear(rank);
        return between;
    }

    /**
     * Returns the first rank that is not gone, in one direction, at a given distance or further away. The search passes
     * over at most {@code count} ranks. Returns this rank if the search finds no other rank.
     */
    private int search(long distance, int direction, int count, BitSet gone) {
        int peer = (int) Math.floorMod(rank + distance, (long) worldSize);
        for (int passed = 0; peer != rank && gone.get(peer); passed++) {
            peer = passed < count ? Math.floorMod(peer + direction, worldSize) : rank;
        }
        return peer;
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;

/**
 * The binomial tree over relative ranks, which are counted from the root. The relative rank of the parent is that of
 * the rank without its lowest set bit. The subtree of a rank has at most {@link #low()} relative ranks, beginning with
 * that of the rank.
 *
 * <p>Chunks are numbered by absolute rank, so the chunks of a subtree may wrap from the last chunk to the first. The
 * chunks of such a subtree are two ranges.
 *
 * @param rank own absolute rank
 * @param size number of ranks
 * @param root absolute rank of the root
 */
record BinomialTree(int rank, int size, int root) {
    /** Maximum number of ranks of a tree in which all ranks but the root are leaves. */
    static final int RANKS_WITHOUT_INNER = 3;

    /**
     * Returns the number of chunks of the widest {@link #extent} of a rank that is neither the root nor a leaf.
     */
    static int widestInner(int size, int root) {
        int widest = 0;
        for (int relative = 2; relative + 1 < size; relative += 2) {
            widest = Math.max(
                    widest,
                    new BinomialTree((relative + root) % size, size, root)
                            .extent()
                            .count());
        }
        return widest;
    }

    /** Returns the relative rank, which is this rank counted from the root. */
    int relative() {
        return Math.floorMod(rank - root, size);
    }

    /** Returns the absolute rank of a relative rank. */
    int absolute(int relative) {
        return (relative + root) % size;
    }

    /** Returns the distance to the parent; for the root, the smallest power of two that is at least the size. */
    int low() {
        return relative() == 0
                ? Integer.highestOneBit(Math.max(1, size - 1)) * (size > 1 ? 2 : 1)
                : Integer.lowestOneBit(relative());
    }

    /** Returns the absolute rank of the parent. */
    int parent() {
        return absolute(relative() - low());
    }

    /** Returns whether there is a child at this distance. */
    boolean hasChild(int distance) {
        return relative() + distance < size;
    }

    /** Returns the absolute rank of the child at this distance. */
    int child(int distance) {
        return absolute(relative() + distance);
    }

    /** Returns whether there is no child. */
    boolean isLeaf() {
        return low() == 1 || !hasChild(1);
    }

    /** Returns the chunk ranges of this rank's subtree: one range, or two if the chunks wrap. */
    Extent[] own() {
        return ranges(relative(), low());
    }

    /** Returns the chunk ranges of a child's subtree. */
    Extent[] ofChild(int distance) {
        return ranges(relative() + distance, distance);
    }

    /** Returns an extent that contains the subtree's chunks. */
    Extent extent() {
        Extent[] ranges = own();
        return ranges.length == 1 ? ranges[0] : Extent.all(size);
    }

    private Extent[] ranges(int relative, int span) {
        int first = absolute(relative);
        int count = Math.min(span, size - relative);
        if (first + count <= size) {
            return new Extent[] {new Extent(first, count)};
        }
        return new Extent[] {new Extent(first, size - first), Extent.all(first + count - size)};
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;

/**
 * The binomial tree over ranks that are counted from the root. The parent of a rank is the same number without its
 * lowest set bit. The {@code span} ranks from a rank on are below it.
 *
 * <p>Chunks are numbered by absolute rank, so the chunks of a subtree may wrap from the last to the first: then they
 * are two ranges.
 *
 * @param rank own absolute rank
 * @param size number of ranks
 * @param root absolute rank of the root
 */
record BinomialTree(int rank, int size, int root) {
    /** Returns this rank counted from the root. */
    int relative() {
        return Math.floorMod(rank - root, size);
    }

    /** Returns the absolute number of a rank counted from the root. */
    int absolute(int relative) {
        return (relative + root) % size;
    }

    /** Returns the distance to the parent; for the root, the smallest power of two that is at least the size. */
    int low() {
        return relative() == 0
                ? Integer.highestOneBit(Math.max(1, size - 1)) * (size > 1 ? 2 : 1)
                : Integer.lowestOneBit(relative());
    }

    /** Returns the parent's absolute rank. */
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

    /** Returns the chunk ranges of this rank's subtree: one range, or two if it wraps. */
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

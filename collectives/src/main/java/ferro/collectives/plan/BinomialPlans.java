package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

/**
 * Plans along a binomial tree whose root is the root of the operation, with {@code ceil(log2 p)} steps.
 *
 * <p>In a gather and a scatter, a rank moves the parts of all ranks below it in the tree in one message. If the numbers
 * of the ranks below wrap around, the rank uses two messages. Sources: Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521, for broadcast and reduce; Chan and others 2007, doi:10.1002/cpe.1206, for gather and
 * scatter.
 */
final class BinomialPlans {
    /** Maximum number of ranks of a tree in which all ranks but the root are leaves. */
    private static final int RANKS_WITHOUT_INNER = 3;

    private static final String NAME = "binomial";

    private BinomialPlans() {}

    /**
     * Makes a broadcast. The root sends {@code n ceil(log2 p)} bytes. The root has the data in IN, and the other ranks
     * get the data in OUT.
     */
    static Plan broadcast(int rank, int size, int root) {
        Tree tree = new Tree(rank, size, root);
        boolean isRoot = rank == root;
        PlanBuilder plan = new PlanBuilder(
                NAME,
                1,
                isRoot ? ChunkExtent.all(1) : ChunkExtent.NONE,
                isRoot ? ChunkExtent.NONE : ChunkExtent.all(1));
        if (!isRoot) {
            plan.receive(tree.parent(), OUT, 0, 1);
        }
        for (int distance = tree.low() / 2; distance > 0; distance /= 2) {
            if (tree.hasChild(distance)) {
                plan.send(tree.child(distance), isRoot ? IN : OUT, 0, 1);
            }
        }
        return plan.build();
    }

    /**
     * Makes a reduce. Each rank except the root sends {@code n} bytes. Ranks with children in the tree combine in
     * SCRATCH, so that their operand is not changed. Leaves send their operand directly.
     */
    static Plan reduce(int rank, int size, int root) {
        Tree tree = new Tree(rank, size, root);
        boolean isRoot = rank == root;
        PlanBuilder plan = new PlanBuilder(NAME, 1, ChunkExtent.all(1), isRoot ? ChunkExtent.all(1) : ChunkExtent.NONE);
        if (!isRoot && tree.isLeaf()) {
            return plan.send(tree.parent(), IN, 0, 1).build();
        }
        Region sum = isRoot ? OUT : SCRATCH;
        plan.scratch(isRoot ? ChunkExtent.NONE : ChunkExtent.all(1)).copy(IN, sum, 0, 1);
        for (int distance = 1; distance < tree.low(); distance *= 2) {
            if (tree.hasChild(distance)) {
                plan.receiveCombine(tree.child(distance), sum, 0, 1);
            }
        }
        return isRoot ? plan.build() : plan.send(tree.parent(), sum, 0, 1).build();
    }

    /** Returns the largest number of chunks that a rank has in SCRATCH in a reduce. */
    static int scratchOfReduce(int size) {
        return size > RANKS_WITHOUT_INNER ? 1 : 0;
    }

    static Plan gather(int rank, int size, int root) {
        Tree tree = new Tree(rank, size, root);
        boolean isRoot = rank == root;
        PlanBuilder plan =
                new PlanBuilder(NAME, size, ChunkExtent.only(rank), isRoot ? ChunkExtent.all(size) : ChunkExtent.NONE);
        if (!isRoot && tree.isLeaf()) {
            return plan.send(tree.parent(), IN, rank, 1).build();
        }
        Region all = isRoot ? OUT : SCRATCH;
        plan.scratch(isRoot ? ChunkExtent.NONE : tree.extent()).copy(IN, all, rank, 1);
        for (int distance = 1; distance < tree.low(); distance *= 2) {
            if (tree.hasChild(distance)) {
                for (ChunkExtent range : tree.ofChild(distance)) {
                    plan.receive(tree.child(distance), all, range.first(), range.count());
                }
            }
        }
        if (!isRoot) {
            for (ChunkExtent range : tree.own()) {
                plan.send(tree.parent(), all, range.first(), range.count());
            }
        }
        return plan.build();
    }

    static Plan scatter(int rank, int size, int root) {
        Tree tree = new Tree(rank, size, root);
        boolean isRoot = rank == root;
        PlanBuilder plan =
                new PlanBuilder(NAME, size, isRoot ? ChunkExtent.all(size) : ChunkExtent.NONE, ChunkExtent.only(rank));
        if (!isRoot && tree.isLeaf()) {
            return plan.receive(tree.parent(), OUT, rank, 1).build();
        }
        Region all = isRoot ? IN : SCRATCH;
        if (!isRoot) {
            plan.scratch(tree.extent());
            for (ChunkExtent range : tree.own()) {
                plan.receive(tree.parent(), all, range.first(), range.count());
            }
        }
        for (int distance = tree.low() / 2; distance > 0; distance /= 2) {
            if (tree.hasChild(distance)) {
                for (ChunkExtent range : tree.ofChild(distance)) {
                    plan.send(tree.child(distance), all, range.first(), range.count());
                }
            }
        }
        return plan.copy(all, OUT, rank, 1).build();
    }

    /** Returns the number of chunks of the widest {@link Tree#extent} of a rank that is neither the root nor a leaf. */
    static int widestInner(int size, int root) {
        int widest = 0;
        for (int relative = 2; relative + 1 < size; relative += 2) {
            Tree tree = new Tree((relative + root) % size, size, root);
            widest = Math.max(widest, tree.extent().count());
        }
        return widest;
    }

    /**
     * The binomial tree over relative ranks, which are counted from the root. The relative rank of the parent is the
     * relative rank of the child without the lowest set bit. The subtree of a rank has at most {@link #low()} relative
     * ranks, beginning with the rank itself.
     *
     * <p>Chunks are numbered by absolute rank, so the chunks of a subtree may wrap from the last chunk to the first.
     * The chunks of a subtree that wraps are two ranges.
     */
    record Tree(int rank, int size, int root) {
        private int relative() {
            return Math.floorMod(rank - root, size);
        }

        private int absolute(int relative) {
            return (relative + root) % size;
        }

        /** Returns the distance to the parent; for the root, the smallest power of two that is at least the size. */
        int low() {
            return relative() == 0
                    ? Integer.highestOneBit(Math.max(1, size - 1)) * (size > 1 ? 2 : 1)
                    : Integer.lowestOneBit(relative());
        }

        int parent() {
            return absolute(relative() - low());
        }

        boolean hasChild(int distance) {
            return relative() + distance < size;
        }

        int child(int distance) {
            return absolute(relative() + distance);
        }

        boolean isLeaf() {
            return low() == 1 || !hasChild(1);
        }

        /** Returns the chunk ranges of this rank's subtree: one range, or two ranges if the chunks wrap around. */
        ChunkExtent[] own() {
            return ranges(relative(), low());
        }

        ChunkExtent[] ofChild(int distance) {
            return ranges(relative() + distance, distance);
        }

        /** Returns an extent that contains the subtree's chunks. */
        ChunkExtent extent() {
            ChunkExtent[] ranges = own();
            return ranges.length == 1 ? ranges[0] : ChunkExtent.all(size);
        }

        private ChunkExtent[] ranges(int relative, int span) {
            int first = absolute(relative);
            int count = Math.min(span, size - relative);
            if (first + count <= size) {
                return new ChunkExtent[] {new ChunkExtent(first, count)};
            }
            return new ChunkExtent[] {new ChunkExtent(first, size - first), ChunkExtent.all(first + count - size)};
        }
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Reduce-scatter by recursive halving, with {@code log2 p} steps and {@code n(p-1)/p} bytes, where n is the size of
 * the full operand. In each step a rank exchanges half of its remaining chunks with one other rank. The distance to
 * that rank is halved after each step. Partial sums are in SCRATCH, which has half the size of the operand. If the
 * world size is no power of two, {@link TreeReduceScatter} combines in the same order.
 *
 * <p>Source: the first half of the all-reduce of Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1.
 */
final class HalvingReduceScatter {
    private static final String NAME = "halving";

    private HalvingReduceScatter() {}

    static Plan plan(int rank, int size) {
        if (isInTree(size)) {
            return TreeReduceScatter.plan(NAME, rank, tree(size));
        }
        PlanBuilder plan = new PlanBuilder(NAME, size).in(Extent.all(size)).out(Extent.only(rank));
        int length = size / 2;
        plan.scratch(new Extent(block(rank, length), length));
        plan.copy(Region.IN, Region.SCRATCH, block(rank, length), length);
        Region sending = Region.IN;
        for (int half = length; half > 1; half /= 2) {
            int peer = rank ^ half;
            plan.send(peer, sending, block(peer, half), half)
                    .receiveCombine(peer, Region.SCRATCH, block(rank, half), half);
            sending = Region.SCRATCH;
        }
        int last = rank ^ 1;
        return plan.send(last, Region.SCRATCH, last, 1)
                .copy(Region.SCRATCH, Region.OUT, rank, 1)
                .receiveCombine(last, Region.OUT, rank, 1)
                .build();
    }

    /** Returns the number of chunks of SCRATCH of the rank that has the most. */
    static int scratchChunks(int size) {
        return isInTree(size) ? TreeReduceScatter.scratchChunks(tree(size)) : size / 2;
    }

    private static boolean isInTree(int size) {
        return Integer.bitCount(size) != 1 || size <= 2;
    }

    private static ReductionTree tree(int size) {
        return ReductionTree.halving(Hosts.ofOneRank(size));
    }

    /** Returns the first chunk of the aligned block of {@code length} chunks that contains the chunk of a rank. */
    private static int block(int rank, int length) {
        return rank / length * length;
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Reduce up a binomial tree, with {@code ceil(log2 p)} steps. Each rank except the root sends {@code n} bytes.
 *
 * <p>Ranks with children combine in SCRATCH, so that their operand is not changed; leaves send their operand directly.
 * Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521.
 */
final class BinomialReduce {
    private BinomialReduce() {}

    static Plan plan(int rank, int size, int root) {
        BinomialTree tree = new BinomialTree(rank, size, root);
        PlanBuilder plan = new PlanBuilder("binomial", 1).in(Extent.all(1));
        if (rank != root && tree.isLeaf()) {
            return plan.send(tree.parent(), Region.IN, 0, 1).build();
        }
        Region sum = rank == root ? Region.OUT : Region.SCRATCH;
        if (rank == root) {
            plan.out(Extent.all(1));
        } else {
            plan.scratch(Extent.all(1));
        }
        plan.copy(Region.IN, sum, 0, 1);
        for (int distance = 1; distance < tree.low(); distance *= 2) {
            if (tree.hasChild(distance)) {
                plan.receiveCombine(tree.child(distance), sum, 0, 1);
            }
        }
        if (rank != root) {
            plan.send(tree.parent(), sum, 0, 1);
        }
        return plan.build();
    }
}

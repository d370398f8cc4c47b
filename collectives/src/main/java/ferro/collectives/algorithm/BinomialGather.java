package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Gather up a binomial tree, with {@code ceil(log2 p)} steps. A rank sends the parts of all ranks below it in one
 * message, or in two if their numbers wrap around. Source: Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class BinomialGather {
    private BinomialGather() {}

    static Plan plan(int rank, int size, int root) {
        BinomialTree tree = new BinomialTree(rank, size, root);
        PlanBuilder plan = new PlanBuilder("binomial", size).in(Extent.only(rank));
        if (rank != root && tree.isLeaf()) {
            return plan.send(tree.parent(), Region.IN, rank, 1).build();
        }
        Region all = rank == root ? Region.OUT : Region.SCRATCH;
        if (rank == root) {
            plan.out(Extent.all(size));
        } else {
            plan.scratch(tree.extent());
        }
        plan.copy(Region.IN, all, rank, 1);
        for (int distance = 1; distance < tree.low(); distance *= 2) {
            if (tree.hasChild(distance)) {
                for (Extent range : tree.ofChild(distance)) {
                    plan.receive(tree.child(distance), all, range.first(), range.count());
                }
            }
        }
        if (rank != root) {
            for (Extent range : tree.own()) {
                plan.send(tree.parent(), all, range.first(), range.count());
            }
        }
        return plan.build();
    }
}

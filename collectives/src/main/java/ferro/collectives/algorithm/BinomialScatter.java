package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Scatter down a binomial tree, with {@code ceil(log2 p)} steps. A rank receives the parts of all ranks below it in one
 * message, or in two if their numbers wrap around. Source: Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class BinomialScatter {
    private BinomialScatter() {}

    static Plan plan(int rank, int size, int root) {
        BinomialTree tree = new BinomialTree(rank, size, root);
        PlanBuilder plan = new PlanBuilder("binomial", size).out(Extent.only(rank));
        if (rank != root && tree.isLeaf()) {
            return plan.receive(tree.parent(), Region.OUT, rank, 1).build();
        }
        Region all = rank == root ? Region.IN : Region.SCRATCH;
        if (rank == root) {
            plan.in(Extent.all(size));
        } else {
            plan.scratch(tree.extent());
            for (Extent range : tree.own()) {
                plan.receive(tree.parent(), all, range.first(), range.count());
            }
        }
        for (int distance = tree.low() / 2; distance > 0; distance /= 2) {
            if (tree.hasChild(distance)) {
                for (Extent range : tree.ofChild(distance)) {
                    plan.send(tree.child(distance), all, range.first(), range.count());
                }
            }
        }
        return plan.copy(all, Region.OUT, rank, 1).build();
    }
}

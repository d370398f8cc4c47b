package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Broadcast down a binomial tree, with {@code ceil(log2 p)} steps. The root sends {@code n ceil(log2 p)} bytes.
 *
 * <p>The root has the data in IN, and the other ranks have it in OUT. Source: Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521.
 */
final class BinomialBroadcast {
    private BinomialBroadcast() {}

    static Plan plan(int rank, int size, int root) {
        BinomialTree tree = new BinomialTree(rank, size, root);
        PlanBuilder plan = new PlanBuilder("binomial", 1);
        Region data = rank == root ? Region.IN : Region.OUT;
        if (rank == root) {
            plan.in(Extent.all(1));
        } else {
            plan.out(Extent.all(1)).receive(tree.parent(), Region.OUT, 0, 1);
        }
        for (int distance = tree.low() / 2; distance > 0; distance /= 2) {
            if (tree.hasChild(distance)) {
                plan.send(tree.child(distance), data, 0, 1);
            }
        }
        return plan.build();
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Gather directly to the root: each other rank sends its part once. Source: Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class LinearGather {
    private LinearGather() {}

    static Plan plan(int rank, int size, int root) {
        PlanBuilder plan = new PlanBuilder("linear", size).in(Extent.only(rank));
        if (rank != root) {
            return plan.send(root, Region.IN, rank, 1).build();
        }
        plan.out(Extent.all(size)).copy(Region.IN, Region.OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int from = (root + i) % size;
            plan.receive(from, Region.OUT, from, 1);
        }
        return plan.build();
    }
}

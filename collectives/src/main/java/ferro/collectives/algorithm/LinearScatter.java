package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Scatter directly from the root: each other rank receives its part once. Source: Chan and others 2007,
 * doi:10.1002/cpe.1206.
 */
final class LinearScatter {
    private LinearScatter() {}

    static Plan plan(int rank, int size, int root) {
        PlanBuilder plan = new PlanBuilder("linear", size).out(Extent.only(rank));
        if (rank != root) {
            return plan.receive(root, Region.OUT, rank, 1).build();
        }
        plan.in(Extent.all(size));
        for (int i = 1; i < size; i++) {
            int peer = (root + i) % size;
            plan.send(peer, Region.IN, peer, 1);
        }
        return plan.copy(Region.IN, Region.OUT, rank, 1).build();
    }
}

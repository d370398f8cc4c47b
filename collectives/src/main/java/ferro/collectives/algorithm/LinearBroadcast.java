package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Broadcast directly from the root to each rank: one step, {@code n(p-1)} bytes from the root.
 *
 * <p>The root has the data in IN, and the other ranks have it in OUT. Every MPI has this algorithm as its linear
 * broadcast: Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class LinearBroadcast {
    private LinearBroadcast() {}

    static Plan plan(int rank, int size, int root) {
        PlanBuilder plan = new PlanBuilder("linear", 1);
        if (rank != root) {
            return plan.out(Extent.all(1)).receive(root, Region.OUT, 0, 1).build();
        }
        plan.in(Extent.all(1));
        for (int i = 1; i < size; i++) {
            plan.send((root + i) % size, Region.IN, 0, 1);
        }
        return plan.build();
    }
}

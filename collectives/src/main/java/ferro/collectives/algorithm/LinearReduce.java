package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Reduce directly at the root, which combines the operands of the other ranks in the order of their distance. Each
 * other rank sends {@code n} bytes, and the root receives {@code n(p-1)} bytes. No scratch memory is needed. Source:
 * Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class LinearReduce {
    private LinearReduce() {}

    static Plan plan(int rank, int size, int root) {
        PlanBuilder plan = new PlanBuilder("linear", 1).in(Extent.all(1));
        if (rank != root) {
            return plan.send(root, Region.IN, 0, 1).build();
        }
        plan.out(Extent.all(1)).copy(Region.IN, Region.OUT, 0, 1);
        for (int i = 1; i < size; i++) {
            plan.receiveCombine((root + i) % size, Region.OUT, 0, 1);
        }
        return plan.build();
    }
}

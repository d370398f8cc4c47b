package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-gather in a ring, in which each chunk goes round once: {@code p-1} steps, {@code n(p-1)/p} bytes, where n is the
 * size of the full result.
 *
 * <p>Source: the second half of ring all-reduce, Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002.
 */
final class RingAllGather {
    private RingAllGather() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("ring", size).in(Extent.only(rank)).out(Extent.all(size));
        plan.copy(Region.IN, Region.OUT, rank, 1);
        for (int i = 0; i < size - 1; i++) {
            plan.send(Math.floorMod(rank + 1, size), Region.OUT, Math.floorMod(rank - i, size), 1);
            plan.receive(Math.floorMod(rank - 1, size), Region.OUT, Math.floorMod(rank - i - 1, size), 1);
        }
        return plan.build();
    }
}

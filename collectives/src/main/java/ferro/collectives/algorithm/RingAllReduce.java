package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-reduce in a ring, in which each chunk goes round once to be summed and once to be distributed.
 *
 * <p>The plan has {@code 2(p-1)} steps and {@code 2n(p-1)/p} bytes, which is the minimum for any algorithm. The steps
 * of all chunks are alike, so segments form a pipeline. Source: Patarasuk and Yuan 2009,
 * doi:10.1016/j.jpdc.2008.09.002.
 */
final class RingAllReduce {
    private RingAllReduce() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("ring", size).in(Extent.all(size)).out(Extent.all(size));
        int next = Math.floorMod(rank + 1, size);
        int previous = Math.floorMod(rank - 1, size);
        plan.copy(Region.IN, Region.OUT, rank, 1);
        for (int i = 0; i < size - 1; i++) {
            int arriving = Math.floorMod(rank - i - 1, size);
            plan.send(next, Region.OUT, Math.floorMod(rank - i, size), 1);
            plan.copy(Region.IN, Region.OUT, arriving, 1);
            plan.receiveCombine(previous, Region.OUT, arriving, 1);
        }
        for (int i = 0; i < size - 1; i++) {
            plan.send(next, Region.OUT, Math.floorMod(rank + 1 - i, size), 1);
            plan.receive(previous, Region.OUT, Math.floorMod(rank - i, size), 1);
        }
        return plan.build();
    }
}

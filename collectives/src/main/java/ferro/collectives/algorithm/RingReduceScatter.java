package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Reduce-scatter in a ring, with {@code p-1} steps and {@code n(p-1)/p} bytes, where n is the size of the full operand.
 * Each chunk goes round once and is complete when it arrives at its own rank. Partial sums are in SCRATCH, which has n
 * bytes.
 *
 * <p>Source: the first half of ring all-reduce, Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002.
 */
final class RingReduceScatter {
    private RingReduceScatter() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("ring", size).in(Extent.all(size)).out(Extent.only(rank));
        if (size > 2) {
            plan.scratch(Extent.all(size));
        }
        int next = Math.floorMod(rank + 1, size);
        int previous = Math.floorMod(rank - 1, size);
        Region sending = Region.IN;
        for (int i = 0; i < size - 1; i++) {
            int arriving = Math.floorMod(rank - i - 2, size);
            Region sum = arriving == rank ? Region.OUT : Region.SCRATCH;
            plan.send(next, sending, Math.floorMod(rank - i - 1, size), 1);
            plan.copy(Region.IN, sum, arriving, 1).receiveCombine(previous, sum, arriving, 1);
            sending = sum;
        }
        return size == 1 ? plan.copy(Region.IN, Region.OUT, 0, 1).build() : plan.build();
    }
}

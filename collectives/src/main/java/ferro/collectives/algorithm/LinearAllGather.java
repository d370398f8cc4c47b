package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-gather in which each rank sends its chunk to each other rank: one step, {@code n(p-1)/p} bytes, where n is the
 * size of the full result.
 *
 * <p>No transfer waits for another transfer, so this is the fastest algorithm if a separate link to each rank costs
 * nothing. Peers are ordered by distance, so that not all ranks send to the same rank at once. Source: Bruck and others
 * 1997, doi:10.1109/71.642949.
 */
final class LinearAllGather {
    private LinearAllGather() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("linear", size).in(Extent.only(rank)).out(Extent.all(size));
        plan.copy(Region.IN, Region.OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int from = Math.floorMod(rank - i, size);
            plan.send((rank + i) % size, Region.OUT, rank, 1).receive(from, Region.OUT, from, 1);
        }
        return plan.build();
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-to-all in pairs: in step i a rank sends to the rank i above and receives from the rank i below; {@code p-1}
 * steps, {@code n(p-1)/p} bytes. IN chunk d is for rank d, OUT chunk s is from rank s: sender and receiver number the
 * same message differently. Source: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521.
 */
final class PairwiseAllToAll {
    private PairwiseAllToAll() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan =
                new PlanBuilder("pairwise", size).in(Extent.all(size)).out(Extent.all(size));
        plan.copy(Region.IN, Region.OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int to = (rank + i) % size;
            int from = Math.floorMod(rank - i, size);
            plan.send(to, Region.IN, to, 1).receive(from, Region.OUT, from, 1);
        }
        return plan.build();
    }
}

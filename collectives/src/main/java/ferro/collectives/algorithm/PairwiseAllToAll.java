package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-to-all in pairs, with {@code p-1} steps and {@code n(p-1)/p} bytes. In step i a rank sends to the rank that is i
 * higher, and receives from the rank that is i lower. Chunk d of IN is for rank d, and chunk s of OUT is from rank s.
 * So sender and receiver use different chunk numbers for one message. Source: Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521.
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

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-reduce in which a rank exchanges all data with the rank at distance 1, 2, 4 and so on. This all-reduce has the
 * fewest steps.
 *
 * <p>The plan has {@code log2 p} steps and {@code n log2 p} bytes. Ranks above the largest power of two first send
 * their operand to a partner and at the end receive the result, which takes two more steps. A rank sends a copy in
 * SCRATCH, because both ranks of a pair send before they receive. A send from OUT would block the combine into OUT, and
 * the send of the other rank waits for this combine. Source: Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521.
 */
final class RecursiveDoublingAllReduce {
    private RecursiveDoublingAllReduce() {}

    static Plan plan(int rank, int size) {
        int core = Integer.highestOneBit(size);
        PlanBuilder plan =
                new PlanBuilder("recursiveDoubling", 1).in(Extent.all(1)).out(Extent.all(1));
        plan.copy(Region.IN, Region.OUT, 0, 1);
        if (rank >= core) {
            return plan.send(rank - core, Region.OUT, 0, 1)
                    .receive(rank - core, Region.OUT, 0, 1)
                    .build();
        }
        boolean hasExtra = rank + core < size;
        if (hasExtra) {
            plan.receiveCombine(rank + core, Region.OUT, 0, 1);
        }
        plan.scratch(core > 1 ? Extent.all(1) : Extent.NONE);
        for (int distance = 1; distance < core; distance *= 2) {
            int peer = rank ^ distance;
            plan.copy(Region.OUT, Region.SCRATCH, 0, 1)
                    .send(peer, Region.SCRATCH, 0, 1)
                    .receiveCombine(peer, Region.OUT, 0, 1);
        }
        if (hasExtra) {
            plan.send(rank + core, Region.OUT, 0, 1);
        }
        return plan.build();
    }
}

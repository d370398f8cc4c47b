package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-reduce by recursive halving, after which each rank has one reduced chunk, then recursive doubling.
 *
 * <p>The plan has {@code 2 log2 p} steps and {@code 2n(p-1)/p} bytes for powers of two. Ranks above the largest power
 * of two first send their operand to a partner and at the end receive the result. Ranks above the largest power of two
 * cost two more steps and {@code n} more bytes. Source: Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1.
 */
final class HalvingDoublingAllReduce {
    private HalvingDoublingAllReduce() {}

    static Plan plan(int rank, int size) {
        int core = Integer.highestOneBit(size);
        PlanBuilder plan =
                new PlanBuilder("halvingDoubling", core).in(Extent.all(core)).out(Extent.all(core));
        plan.copy(Region.IN, Region.OUT, 0, core);
        if (rank >= core) {
            return plan.send(rank - core, Region.OUT, 0, core)
                    .receive(rank - core, Region.OUT, 0, core)
                    .build();
        }
        boolean hasExtra = rank + core < size;
        if (hasExtra) {
            plan.receiveCombine(rank + core, Region.OUT, 0, core);
        }
        for (int half = core / 2; half >= 1; half /= 2) {
            int peer = rank ^ half;
            plan.send(peer, Region.OUT, block(peer, half), half)
                    .receiveCombine(peer, Region.OUT, block(rank, half), half);
        }
        for (int half = 1; half < core; half *= 2) {
            int peer = rank ^ half;
            plan.send(peer, Region.OUT, block(rank, half), half).receive(peer, Region.OUT, block(peer, half), half);
        }
        if (hasExtra) {
            plan.send(rank + core, Region.OUT, 0, core);
        }
        return plan.build();
    }

    /** Returns the first chunk of the aligned block of {@code length} chunks that contains the chunk of a rank. */
    private static int block(int rank, int length) {
        return rank / length * length;
    }
}

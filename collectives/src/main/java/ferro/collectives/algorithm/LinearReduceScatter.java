package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Pairwise reduce-scatter, with {@code p-1} steps, {@code n(p-1)/p} bytes, where n is the size of the full operand, and
 * no scratch memory. Each rank sends to every other rank the part of the operand that belongs to that rank, and
 * combines the parts that it receives. A rank combines in the order of {@link RingAllReduce}: first its own operand,
 * then the operands of the ranks after it.
 *
 * <p>Source: the pairwise exchange of Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521.
 */
final class LinearReduceScatter {
    private LinearReduceScatter() {}

    static Plan plan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("linear", size).in(Extent.all(size)).out(Extent.only(rank));
        plan.copy(Region.IN, Region.OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int peer = Math.floorMod(rank - i, size);
            plan.send(peer, Region.IN, peer, 1).receiveCombine((rank + i) % size, Region.OUT, rank, 1);
        }
        return plan.build();
    }
}

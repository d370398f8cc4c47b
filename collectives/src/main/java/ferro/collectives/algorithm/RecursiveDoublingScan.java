package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Scan by recursive doubling, with {@code ceil(log2 p)} steps and up to {@code n ceil(log2 p)} bytes. In the step of
 * distance d a rank sends what it has combined to the rank d after it, and combines what it receives from the rank d
 * before it. After the step a rank has the operands of the last 2d ranks up to itself.
 *
 * <p>An exclusive scan first sends each operand to the next rank. The ranks from 1 on then scan what they have received,
 * which takes one more step at most. A rank sends a copy in SCRATCH, because a send from OUT would block the combine
 * into OUT.
 *
 * <p>Source: the recursive doubling of Kogge and Stone 1973, doi:10.1109/TC.1973.5009159; as messages between ranks the
 * simultaneous binomial trees of Sanders and Träff 2006, doi:10.1007/11846802_15.
 */
final class RecursiveDoublingScan {
    private static final String NAME = "recursiveDoubling";

    private RecursiveDoublingScan() {}

    static Plan scan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, 1).in(Extent.all(1)).out(Extent.all(1));
        plan.copy(Region.IN, Region.OUT, 0, 1);
        plan.scratch(rank + 1 < size ? Extent.all(1) : Extent.NONE);
        doubling(plan, rank, size, 0);
        return plan.buildScan();
    }

    static Plan exclusiveScan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, 1).in(Extent.all(1)).out(rank > 0 ? Extent.all(1) : Extent.NONE);
        if (rank + 1 < size) {
            plan.scratch(Extent.all(1)).copy(Region.IN, Region.SCRATCH, 0, 1).send(rank + 1, Region.SCRATCH, 0, 1);
        }
        if (rank > 0) {
            plan.receive(rank - 1, Region.OUT, 0, 1);
            doubling(plan, rank, size, 1);
        }
        return plan.buildScan();
    }

    /** Adds the steps that scan what the ranks from {@code first} on have in OUT. */
    private static void doubling(PlanBuilder plan, int rank, int size, int first) {
        for (int distance = 1; distance < size - first; distance *= 2) {
            if (rank + distance < size) {
                plan.copy(Region.OUT, Region.SCRATCH, 0, 1).send(rank + distance, Region.SCRATCH, 0, 1);
            }
            if (rank - distance >= first) {
                plan.receiveCombineFirst(rank - distance, Region.OUT, 0, 1);
            }
        }
    }
}

package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Scan along a chain of ranks, with {@code p-1} steps and {@code n} bytes. Each rank receives the combined operands of
 * the ranks before it, combines its own operand, and sends the result to the next rank. The segments of large data
 * form a pipeline: a rank sends a segment while it receives the next one.
 *
 * <p>An exclusive scan combines in SCRATCH, and keeps what it has received in OUT. Source: the linear pipeline that
 * Sanders and Träff 2006, doi:10.1007/11846802_15, compare their algorithm with.
 */
final class ChainScan {
    private static final String NAME = "chain";

    private ChainScan() {}

    static Plan scan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, 1).in(Extent.all(1)).out(Extent.all(1));
        plan.copy(Region.IN, Region.OUT, 0, 1);
        if (rank > 0) {
            plan.receiveCombineFirst(rank - 1, Region.OUT, 0, 1);
        }
        if (rank + 1 < size) {
            plan.send(rank + 1, Region.OUT, 0, 1);
        }
        return plan.buildScan();
    }

    static Plan exclusiveScan(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, 1).in(Extent.all(1)).out(rank > 0 ? Extent.all(1) : Extent.NONE);
        boolean sends = rank + 1 < size;
        if (sends) {
            plan.scratch(Extent.all(1)).copy(Region.IN, Region.SCRATCH, 0, 1);
        }
        if (rank > 0) {
            plan.receive(rank - 1, Region.OUT, 0, 1);
        }
        if (sends && rank > 0) {
            plan.combineFirst(Region.OUT, Region.SCRATCH, 0, 1);
        }
        return sends ? plan.send(rank + 1, Region.SCRATCH, 0, 1).buildScan() : plan.buildScan();
    }
}

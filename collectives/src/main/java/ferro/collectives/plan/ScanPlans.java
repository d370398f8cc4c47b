package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

/**
 * Plans of scans, by recursive doubling or along a chain of ranks.
 *
 * <p>By recursive doubling, a scan has {@code ceil(log2 p)} steps and up to {@code n ceil(log2 p)} bytes. In the step
 * of distance d, rank r sends its combined data to rank r + d, and combines the data that it receives from rank r - d.
 * After the step of distance d, rank r has the combined operands of the last 2d ranks up to rank r. Source: the
 * recursive doubling of Kogge and Stone 1973, doi:10.1109/TC.1973.5009159; as messages between ranks the simultaneous
 * binomial trees of Sanders and Träff 2006, doi:10.1007/11846802_15.
 *
 * <p>Along a chain, a scan has {@code p-1} steps and {@code n} bytes. Each rank receives the combined operands of all
 * previous ranks, combines its own operand, and sends the result to the next rank. The segments of large data form a
 * pipeline, because a rank sends a segment while the rank receives the next segment. Source: the linear pipeline with
 * which Sanders and Träff compare their algorithm.
 */
final class ScanPlans {
    private static final String DOUBLING = "recursiveDoubling";
    private static final String CHAIN = "chain";

    private ScanPlans() {}

    static Plan doubling(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(DOUBLING, 1, ChunkExtent.all(1), ChunkExtent.all(1)).copy(IN, OUT, 0, 1);
        plan.scratch(rank + 1 < size ? ChunkExtent.all(1) : ChunkExtent.NONE);
        addDoubling(plan, rank, size, 0);
        return plan.buildScan();
    }

    /**
     * Makes an exclusive scan that first sends each operand to the next rank. Then all ranks except rank 0 scan the
     * operands that they have received. An exclusive scan has at most one more step than a scan.
     */
    static Plan exclusiveDoubling(int rank, int size) {
        PlanBuilder plan = exclusive(DOUBLING, rank, size);
        if (rank + 1 < size) {
            plan.send(rank + 1, SCRATCH, 0, 1);
        }
        if (rank > 0) {
            plan.receive(rank - 1, OUT, 0, 1);
            addDoubling(plan, rank, size, 1);
        }
        return plan.buildScan();
    }

    /**
     * Adds the steps of a scan of the data that the ranks from {@code first} on have in OUT. A rank sends a copy in
     * SCRATCH, because a send from OUT would block the combine into OUT.
     */
    private static void addDoubling(PlanBuilder plan, int rank, int size, int first) {
        for (int distance = 1; distance < size - first; distance *= 2) {
            if (rank + distance < size) {
                plan.copy(OUT, SCRATCH, 0, 1).send(rank + distance, SCRATCH, 0, 1);
            }
            if (rank - distance >= first) {
                plan.receiveCombine(rank - distance, OUT, 0, 1, true);
            }
        }
    }

    static Plan chain(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(CHAIN, 1, ChunkExtent.all(1), ChunkExtent.all(1)).copy(IN, OUT, 0, 1);
        if (rank > 0) {
            plan.receiveCombine(rank - 1, OUT, 0, 1, true);
        }
        if (rank + 1 < size) {
            plan.send(rank + 1, OUT, 0, 1);
        }
        return plan.buildScan();
    }

    /** Makes an exclusive scan that combines in SCRATCH, and keeps the received operands in OUT. */
    static Plan exclusiveChain(int rank, int size) {
        PlanBuilder plan = exclusive(CHAIN, rank, size);
        boolean sends = rank + 1 < size;
        if (rank > 0) {
            plan.receive(rank - 1, OUT, 0, 1);
        }
        if (sends && rank > 0) {
            plan.combine(OUT, SCRATCH, 0, 1, true);
        }
        return sends ? plan.send(rank + 1, SCRATCH, 0, 1).buildScan() : plan.buildScan();
    }

    /** Begins an exclusive scan. Rank 0 has no result, and all ranks but the last copy their operand to SCRATCH. */
    private static PlanBuilder exclusive(String name, int rank, int size) {
        PlanBuilder plan =
                new PlanBuilder(name, 1, ChunkExtent.all(1), rank > 0 ? ChunkExtent.all(1) : ChunkExtent.NONE);
        return rank + 1 < size ? plan.scratch(ChunkExtent.all(1)).copy(IN, SCRATCH, 0, 1) : plan;
    }
}

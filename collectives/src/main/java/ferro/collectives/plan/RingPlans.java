package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

/**
 * Plans in which each rank sends to the next rank of a ring and receives from the previous rank.
 *
 * <p>Source: Patarasuk and Yuan 2009, doi:10.1016/j.jpdc.2008.09.002.
 */
final class RingPlans {
    private static final String NAME = "ring";

    private RingPlans() {}

    /**
     * Makes an all-reduce in which each chunk goes round the ring once to be summed and once to be distributed.
     *
     * <p>The plan has {@code 2(p-1)} steps and {@code 2n(p-1)/p} bytes, which is the minimum for any algorithm. The
     * steps of all chunks are alike, so segments form a pipeline.
     */
    static Plan allReduce(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, ChunkExtent.all(size), ChunkExtent.all(size));
        int next = Math.floorMod(rank + 1, size);
        int previous = Math.floorMod(rank - 1, size);
        plan.copy(IN, OUT, rank, 1);
        for (int i = 0; i < size - 1; i++) {
            int arriving = Math.floorMod(rank - i - 1, size);
            plan.send(next, OUT, Math.floorMod(rank - i, size), 1);
            plan.copy(IN, OUT, arriving, 1).receiveCombine(previous, OUT, arriving, 1);
        }
        for (int i = 0; i < size - 1; i++) {
            plan.send(next, OUT, Math.floorMod(rank + 1 - i, size), 1);
            plan.receive(previous, OUT, Math.floorMod(rank - i, size), 1);
        }
        return plan.build();
    }

    /**
     * Makes a reduce-scatter, the first half of the all-reduce, with {@code p-1} steps and {@code n(p-1)/p} bytes,
     * where n is the size of the full operand. Each chunk goes round the ring once and is complete when it arrives at
     * the rank whose part it is. Partial sums are in SCRATCH, which has n bytes.
     */
    static Plan reduceScatter(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, ChunkExtent.all(size), ChunkExtent.only(rank));
        if (size > 2) {
            plan.scratch(ChunkExtent.all(size));
        }
        int next = Math.floorMod(rank + 1, size);
        int previous = Math.floorMod(rank - 1, size);
        Region sending = IN;
        for (int i = 0; i < size - 1; i++) {
            int arriving = Math.floorMod(rank - i - 2, size);
            Region sum = arriving == rank ? OUT : SCRATCH;
            plan.send(next, sending, Math.floorMod(rank - i - 1, size), 1);
            plan.copy(IN, sum, arriving, 1).receiveCombine(previous, sum, arriving, 1);
            sending = sum;
        }
        return size == 1 ? plan.copy(IN, OUT, 0, 1).build() : plan.build();
    }

    /**
     * Makes an all-gather, the second half of the all-reduce, in which each chunk goes round the ring once. The plan
     * has {@code p-1} steps and {@code n(p-1)/p} bytes, where n is the size of the full result.
     */
    static Plan allGather(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, ChunkExtent.only(rank), ChunkExtent.all(size));
        plan.copy(IN, OUT, rank, 1);
        for (int i = 0; i < size - 1; i++) {
            plan.send(Math.floorMod(rank + 1, size), OUT, Math.floorMod(rank - i, size), 1);
            plan.receive(Math.floorMod(rank - 1, size), OUT, Math.floorMod(rank - i - 1, size), 1);
        }
        return plan.build();
    }
}

package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;

/**
 * Plans in which every message goes directly from the rank that has the data to the rank that needs it.
 *
 * <p>Peers are ordered by distance, so that not all ranks send to the same rank at once. No plan needs scratch memory.
 * Source of the plans with a root: Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class LinearPlans {
    private static final String NAME = "linear";

    private LinearPlans() {}

    /**
     * Makes a broadcast: one step, {@code n(p-1)} bytes from the root. The root has the data in IN, and the other ranks
     * have it in OUT.
     */
    static Plan broadcast(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, 1, Extent.NONE, Extent.all(1))
                    .receive(root, OUT, 0, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, 1, Extent.all(1), Extent.NONE);
        for (int i = 1; i < size; i++) {
            plan.send((root + i) % size, IN, 0, 1);
        }
        return plan.build();
    }

    /**
     * Makes a reduce at the root, which combines the operands of the other ranks in the order of their distance. Each
     * other rank sends {@code n} bytes, and the root receives {@code n(p-1)} bytes.
     */
    static Plan reduce(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, 1, Extent.all(1), Extent.NONE)
                    .send(root, IN, 0, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, 1, Extent.all(1), Extent.all(1)).copy(IN, OUT, 0, 1);
        for (int i = 1; i < size; i++) {
            plan.receiveCombine((root + i) % size, OUT, 0, 1);
        }
        return plan.build();
    }

    /** Makes a gather: each other rank sends its part to the root once. */
    static Plan gather(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, size, Extent.only(rank), Extent.NONE)
                    .send(root, IN, rank, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, size, Extent.only(rank), Extent.all(size)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int from = (root + i) % size;
            plan.receive(from, OUT, from, 1);
        }
        return plan.build();
    }

    /** Makes a scatter: each other rank receives its part from the root once. */
    static Plan scatter(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, size, Extent.NONE, Extent.only(rank))
                    .receive(root, OUT, rank, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, size, Extent.all(size), Extent.only(rank));
        for (int i = 1; i < size; i++) {
            int peer = (root + i) % size;
            plan.send(peer, IN, peer, 1);
        }
        return plan.copy(IN, OUT, rank, 1).build();
    }

    /**
     * Makes an all-gather in which each rank sends its chunk to each other rank: one step, {@code n(p-1)/p} bytes, where
     * n is the size of the full result.
     *
     * <p>No transfer waits for another transfer, so this is the fastest algorithm if a separate link to each rank costs
     * nothing. Source: Bruck and others 1997, doi:10.1109/71.642949.
     */
    static Plan allGather(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, Extent.only(rank), Extent.all(size)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int from = Math.floorMod(rank - i, size);
            plan.send((rank + i) % size, OUT, rank, 1).receive(from, OUT, from, 1);
        }
        return plan.build();
    }

    /**
     * Makes a pairwise reduce-scatter, with {@code p-1} steps and {@code n(p-1)/p} bytes, where n is the size of the
     * full operand. Each rank sends to every other rank the part of the operand that belongs to that rank, and combines
     * the parts that it receives. A rank combines in the order of {@link RingPlans#allReduce}: first its own operand,
     * then the operands of the ranks after it.
     *
     * <p>Source: the pairwise exchange of Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521.
     */
    static Plan reduceScatter(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, Extent.all(size), Extent.only(rank)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int peer = Math.floorMod(rank - i, size);
            plan.send(peer, IN, peer, 1).receiveCombine((rank + i) % size, OUT, rank, 1);
        }
        return plan.build();
    }
}

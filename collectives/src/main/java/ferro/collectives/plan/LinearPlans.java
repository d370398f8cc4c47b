package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;

/**
 * Plans in which every message goes directly from the rank that has the data to the rank that needs it.
 *
 * <p>Peers are ordered by distance, so that not all ranks send to the same rank at once. In plans that combine in rank
 * order, peers have the order of the ranks. No plan needs scratch memory. Source of the plans with a root in which
 * peers are ordered by distance: Chan and others 2007, doi:10.1002/cpe.1206.
 */
final class LinearPlans {
    private static final String NAME = "linear";
    private static final String RANK_ORDER = "rankOrder";

    private LinearPlans() {}

    /**
     * Makes a broadcast in one step, with {@code n(p-1)} bytes from the root. The root has the data in IN, and the
     * other ranks get the data in OUT.
     */
    static Plan broadcast(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, 1, ChunkExtent.NONE, ChunkExtent.all(1))
                    .receive(root, OUT, 0, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, 1, ChunkExtent.all(1), ChunkExtent.NONE);
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
            return new PlanBuilder(NAME, 1, ChunkExtent.all(1), ChunkExtent.NONE)
                    .send(root, IN, 0, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, 1, ChunkExtent.all(1), ChunkExtent.all(1)).copy(IN, OUT, 0, 1);
        for (int i = 1; i < size; i++) {
            plan.receiveCombine((root + i) % size, OUT, 0, 1);
        }
        return plan.build();
    }

    /** Makes a gather. Each other rank sends its part to the root once. */
    static Plan gather(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, size, ChunkExtent.only(rank), ChunkExtent.NONE)
                    .send(root, IN, rank, 1)
                    .build();
        }
        PlanBuilder plan =
                new PlanBuilder(NAME, size, ChunkExtent.only(rank), ChunkExtent.all(size)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int from = (root + i) % size;
            plan.receive(from, OUT, from, 1);
        }
        return plan.build();
    }

    /** Makes a scatter. Each other rank receives its part from the root once. */
    static Plan scatter(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, size, ChunkExtent.NONE, ChunkExtent.only(rank))
                    .receive(root, OUT, rank, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, size, ChunkExtent.all(size), ChunkExtent.only(rank));
        for (int i = 1; i < size; i++) {
            int peer = (root + i) % size;
            plan.send(peer, IN, peer, 1);
        }
        return plan.copy(IN, OUT, rank, 1).build();
    }

    /**
     * Makes an all-gather in which each rank sends its chunk to each other rank, with one step and {@code n(p-1)/p}
     * bytes, where n is the size of the full result.
     *
     * <p>No transfer waits for another transfer, so the linear all-gather is the fastest algorithm if a separate link
     * to each rank costs nothing. Source: Bruck and others 1997, doi:10.1109/71.642949.
     */
    static Plan allGather(int rank, int size) {
        PlanBuilder plan =
                new PlanBuilder(NAME, size, ChunkExtent.only(rank), ChunkExtent.all(size)).copy(IN, OUT, rank, 1);
        return addAllGather(plan, rank, size).build();
    }

    private static PlanBuilder addAllGather(PlanBuilder plan, int rank, int size) {
        for (int i = 1; i < size; i++) {
            int from = Math.floorMod(rank - i, size);
            plan.send((rank + i) % size, OUT, rank, 1).receive(from, OUT, from, 1);
        }
        return plan;
    }

    /**
     * Makes an all-to-all in pairs, with {@code p-1} steps and {@code n(p-1)/p} bytes. In step i, rank r sends to rank
     * r + i, and receives from rank r - i. Chunk d of IN is for rank d, and chunk s of OUT is from rank s. So sender
     * and receiver use different chunk numbers for one message. Source: Thakur, Rabenseifner and Gropp 2005,
     * doi:10.1177/1094342005051521.
     */
    static Plan pairwise(int rank, int size) {
        PlanBuilder plan =
                new PlanBuilder("pairwise", size, ChunkExtent.all(size), ChunkExtent.all(size)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int to = (rank + i) % size;
            int from = Math.floorMod(rank - i, size);
            plan.send(to, IN, to, 1).receive(from, OUT, from, 1);
        }
        return plan.build();
    }

    /**
     * Makes a pairwise reduce-scatter, with {@code p-1} steps and {@code n(p-1)/p} bytes, where n is the size of the
     * full operand. Each rank sends to every other rank the part of the operand that belongs to that rank, and combines
     * the parts that it receives. A rank combines in the order of {@link RingPlans#allReduce}. The rank combines first
     * its own operand, then the operands of the ranks after itself.
     *
     * <p>Source: the pairwise exchange of Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521.
     */
    static Plan reduceScatter(int rank, int size) {
        PlanBuilder plan =
                new PlanBuilder(NAME, size, ChunkExtent.all(size), ChunkExtent.only(rank)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int peer = Math.floorMod(rank - i, size);
            plan.send(peer, IN, peer, 1).receiveCombine((rank + i) % size, OUT, rank, 1);
        }
        return plan.build();
    }

    /**
     * Makes a reduce that combines the operands in the order of the ranks, for ops that do not commute. The root first
     * combines the operands of the ranks before the root, down to rank 0, on the left of its own operand. Then the root
     * combines the operands of the ranks after the root on the right. Each other rank sends {@code n} bytes in one
     * step.
     */
    static Plan rankOrderReduce(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(RANK_ORDER, 1, ChunkExtent.all(1), ChunkExtent.NONE)
                    .send(root, IN, 0, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(RANK_ORDER, 1, ChunkExtent.all(1), ChunkExtent.all(1)).copy(IN, OUT, 0, 1);
        for (int turn = 0; turn < size - 1; turn++) {
            plan.receiveCombine(peer(rank, turn), OUT, 0, 1, peer(rank, turn) < rank);
        }
        return plan.build();
    }

    /**
     * Makes a reduce-scatter that combines each part as {@link #rankOrderReduce} does, with one step and
     * {@code n(p-1)/p} bytes, where n is the size of the full operand. Source: the pairwise exchange of Thakur,
     * Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521, with another order of messages.
     */
    static Plan rankOrderReduceScatter(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(RANK_ORDER, size, ChunkExtent.all(size), ChunkExtent.only(rank));
        plan.copy(IN, OUT, rank, 1);
        reduceParts(plan, rank, size, IN);
        return plan.build();
    }

    /** Makes an all-reduce from the rank-order reduce-scatter and an all-gather. Steps and bytes are doubled. */
    static Plan rankOrderAllReduce(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(RANK_ORDER, size, ChunkExtent.all(size), ChunkExtent.all(size));
        for (int chunk = 0; chunk < size; chunk++) {
            plan.copy(IN, OUT, chunk, 1);
        }
        reduceParts(plan, rank, size, OUT);
        return addAllGather(plan, rank, size).build();
    }

    /**
     * Adds the steps that reduce this rank's part in OUT, which has this rank's operand. A turn is the position of a
     * message in the order in which its receiver combines. Sends and receives are sorted by turn. So a message of the
     * lowest turn is the next message of its sender and of its receiver, and ranks never wait for each other.
     */
    private static void reduceParts(PlanBuilder plan, int rank, int size, Region operand) {
        for (int turn = 0; turn < size - 1; turn++) {
            for (int receiver = 0; turn == rank - 1 && receiver < rank; receiver++) {
                plan.send(receiver, operand, receiver, 1);
            }
            int above = rank + 1 + turn;
            if (above < size) {
                plan.send(above, operand, above, 1);
            }
            plan.receiveCombine(peer(rank, turn), OUT, rank, 1, peer(rank, turn) < rank);
        }
    }

    /**
     * Returns the rank whose operand a rank combines in a turn. The ranks before the rank come first, in descending
     * order.
     */
    private static int peer(int rank, int turn) {
        return turn < rank ? rank - 1 - turn : turn + 1;
    }
}

package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;

/**
 * Reductions that combine the operands of each element in the order of the ranks, for ops that do not commute. Each rank
 * sends to every other rank the part of the operand that belongs to that rank. It combines what it receives from the ranks
 * before it, down to rank 0, on the left of its own part, then what it receives from the ranks after it on the right.
 *
 * <p>A reduce has one step, in which each rank sends {@code n} bytes to the root. A reduce-scatter has one step and {@code n(p-1)/p} bytes, where n is the size of the full operand, and no scratch
 * memory. An all-reduce then sends each reduced part to every rank, which doubles both. Source: the pairwise exchange of
 * Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521, with another order of messages.
 */
final class RankOrderPlans {
    private static final String NAME = "rankOrder";

    private RankOrderPlans() {}

    static Plan reduce(int rank, int size, int root) {
        if (rank != root) {
            return new PlanBuilder(NAME, 1, Extent.all(1), Extent.NONE)
                    .send(root, IN, 0, 1)
                    .build();
        }
        PlanBuilder plan = new PlanBuilder(NAME, 1, Extent.all(1), Extent.all(1)).copy(IN, OUT, 0, 1);
        for (int turn = 0; turn < size - 1; turn++) {
            combine(plan, peer(rank, turn), rank, 0);
        }
        return plan.build();
    }

    static Plan reduceScatter(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, Extent.all(size), Extent.only(rank));
        plan.copy(IN, OUT, rank, 1);
        reduceParts(plan, rank, size, IN);
        return plan.build();
    }

    static Plan allReduce(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(NAME, size, Extent.all(size), Extent.all(size));
        for (int chunk = 0; chunk < size; chunk++) {
            plan.copy(IN, OUT, chunk, 1);
        }
        reduceParts(plan, rank, size, OUT);
        for (int i = 1; i < size; i++) {
            int from = Math.floorMod(rank - i, size);
            plan.send((rank + i) % size, OUT, rank, 1).receive(from, OUT, from, 1);
        }
        return plan.build();
    }

    /**
     * Adds the steps that reduce the own part in OUT, which has the own operand. Sends and receives are sorted by the turn
     * in which the receiver combines the message. So a message of the lowest turn is the next one of both its ranks, and
     * ranks never wait for each other.
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
            combine(plan, peer(rank, turn), rank, rank);
        }
    }

    private static void combine(PlanBuilder plan, int peer, int rank, int chunk) {
        if (peer < rank) {
            plan.receiveCombineFirst(peer, OUT, chunk, 1);
        } else {
            plan.receiveCombine(peer, OUT, chunk, 1);
        }
    }

    /** Returns the rank whose operand a rank combines in a turn: first the ranks before it, downwards. */
    private static int peer(int rank, int turn) {
        return turn < rank ? rank - 1 - turn : turn + 1;
    }
}

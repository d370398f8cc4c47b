package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * Barrier by dissemination, with {@code ceil(log2 p)} rounds. In round k a rank sends a message to the rank that is
 * {@code 2^k} higher, after it has received the message of the round before. After the last round every rank depends on
 * every other rank.
 *
 * <p>The messages are empty, and the chunks only express dependencies: round k sends chunk k and receives chunk
 * {@code k + 1}, which the next round sends. Source: Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320.
 */
final class DisseminationBarrier {
    private DisseminationBarrier() {}

    static Plan plan(int rank, int size) {
        int rounds = Integer.SIZE - Integer.numberOfLeadingZeros(size - 1);
        PlanBuilder plan = new PlanBuilder("dissemination", rounds + 1).scratch(Extent.all(rounds + 1));
        for (int round = 0; round < rounds; round++) {
            int distance = 1 << round;
            plan.send((rank + distance) % size, Region.SCRATCH, round, 1);
            plan.receive(Math.floorMod(rank - distance, size), Region.SCRATCH, round + 1, 1);
        }
        return plan.build();
    }
}

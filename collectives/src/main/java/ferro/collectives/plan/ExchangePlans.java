package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

/** Plans in which every rank exchanges something with every other rank: all-to-alls and the barrier. */
final class ExchangePlans {
    private ExchangePlans() {}

    /**
     * Makes an all-to-all in pairs, with {@code p-1} steps and {@code n(p-1)/p} bytes. In step i a rank sends to the
     * rank that is i higher, and receives from the rank that is i lower. Chunk d of IN is for rank d, and chunk s of OUT
     * is from rank s. So sender and receiver use different chunk numbers for one message. Source: Thakur, Rabenseifner
     * and Gropp 2005, doi:10.1177/1094342005051521.
     */
    static Plan pairwise(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("pairwise", size, Extent.all(size), Extent.all(size)).copy(IN, OUT, rank, 1);
        for (int i = 1; i < size; i++) {
            int to = (rank + i) % size;
            int from = Math.floorMod(rank - i, size);
            plan.send(to, IN, to, 1).receive(from, OUT, from, 1);
        }
        return plan.build();
    }

    /**
     * Makes an all-to-all for small parts of equal length, with {@code ceil(log2 p)} steps and about {@code n/2 log2 p}
     * bytes. The bits of i, the distance of a part to its destination rank, decide how the part moves. If bit k of i is
     * set, then in step k the part goes to the rank that is {@code 2^k} higher, together with all other parts that have
     * this bit. A rank that forwards a part stores the part between the two steps. Source: Bruck and others 1997,
     * doi:10.1109/71.642949.
     *
     * <p>No part is packed or rotated, because links put all parts that are sent to one rank at the same time into one
     * write. A forwarded part is alternately in SCRATCH and in its chunk of OUT, and at the end in OUT. So no part is
     * received into memory from which another part is still being sent.
     */
    static Plan bruck(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("bruck", size, Extent.all(size), Extent.all(size));
        if (size > 2) {
            plan.scratch(Extent.all(size));
        }
        plan.copy(IN, OUT, rank, 1);
        for (int bit = 1; bit < size; bit *= 2) {
            int to = (rank + bit) % size;
            int from = Math.floorMod(rank - bit, size);
            for (int up = bit; up < size; up++) {
                if ((up & bit) != 0) {
                    boolean isFirst = up % bit == 0;
                    Region source = isFirst ? IN : kept(up, bit / 2);
                    plan.send(to, source, isFirst ? (rank + up) % size : indexOf(source, rank, up, size), 1);
                    Region target = kept(up, bit);
                    plan.receive(from, target, indexOf(target, rank, up, size), 1);
                }
            }
        }
        return plan.build();
    }

    /** Returns the region of a part after all its steps up to a bit: OUT if an even number of its steps remains. */
    private static Region kept(int up, int bit) {
        int left = Integer.bitCount(up & -(2 * bit));
        return left % 2 == 0 ? OUT : SCRATCH;
    }

    private static int indexOf(Region region, int rank, int up, int size) {
        return region == OUT ? Math.floorMod(rank - up, size) : up;
    }

    /**
     * Makes a barrier by dissemination, with {@code ceil(log2 p)} rounds. The messages are empty, and the chunks only
     * express dependencies. Source: Hensgen, Finkel and Manber 1988, doi:10.1007/BF01379320.
     */
    static Plan barrier(int rank, int size) {
        int rounds = rounds(size);
        PlanBuilder plan =
                new PlanBuilder("dissemination", rounds + 1, Extent.NONE, Extent.NONE).scratch(Extent.all(rounds + 1));
        addRounds(plan, rank, size, null);
        return plan.build();
    }

    /** Returns the number of rounds after which each of these ranks or hosts depends on every other one. */
    static int rounds(int count) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
    }

    /**
     * Adds the rounds of a barrier between ranks, or between the leaders of hosts. In round k a rank sends a message to
     * the rank that is {@code 2^k} higher, after it has received the message of the round before. Round k sends chunk k
     * and receives chunk {@code k + 1}, which the next round sends.
     *
     * @param own   own number
     * @param count number of ranks or hosts
     * @param hosts hosts whose leaders exchange; null if ranks exchange
     */
    static void addRounds(PlanBuilder plan, int own, int count, Hosts hosts) {
        for (int round = 0; round < rounds(count); round++) {
            int distance = 1 << round;
            plan.send(Hosts.leader(hosts, (own + distance) % count), SCRATCH, round, 1);
            plan.receive(Hosts.leader(hosts, Math.floorMod(own - distance, count)), SCRATCH, round + 1, 1);
        }
    }
}

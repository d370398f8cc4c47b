package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

/**
 * Plans in which a rank exchanges data with ranks at distances of 1, 2, 4 and so on (doubling), or in the opposite
 * order (halving). In the all-to-all and the barrier, the distances wrap around.
 *
 * <p>In plans other than the all-to-all and the barrier, ranks above the largest power of two first send their data to
 * a partner. At the end, the ranks above the power of two receive the result. The two transfers make the plan two
 * steps longer. Sources: Thakur, Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521, for recursive doubling;
 * Rabenseifner 2004, doi:10.1007/978-3-540-24685-5_1, for halving.
 */
final class HalvingPlans {
    private static final String DOUBLING = "recursiveDoubling";
    private static final String HALVING = "halving";

    private HalvingPlans() {}

    /**
     * Makes an all-reduce by recursive doubling, in which a rank exchanges all data in each step. This all-reduce has
     * the fewest steps: {@code log2 p} steps and {@code n log2 p} bytes.
     */
    static Plan doublingAllReduce(int rank, int size) {
        PlanBuilder plan = new PlanBuilder(DOUBLING, 1, ChunkExtent.all(1), ChunkExtent.all(1)).copy(IN, OUT, 0, 1);
        addDoubling(plan, rank, size, null);
        return plan.build();
    }

    /**
     * Adds the steps of an all-reduce by doubling. The steps are between ranks if {@code hosts} is null, else between
     * the leaders of hosts. A rank sends a copy in SCRATCH, because both ranks of a pair send before they receive. A
     * send from OUT would block the combine into OUT, and the send of the other rank waits for this combine.
     */
    static void addDoubling(PlanBuilder plan, int own, int count, Hosts hosts) {
        int core = Integer.highestOneBit(count);
        if (own >= core) {
            int partner = Hosts.leader(hosts, own - core);
            plan.send(partner, OUT, 0, 1).receive(partner, OUT, 0, 1);
            return;
        }
        boolean hasExtra = own + core < count;
        if (hasExtra) {
            plan.receiveCombine(Hosts.leader(hosts, own + core), OUT, 0, 1);
        }
        plan.scratch(core > 1 ? ChunkExtent.all(1) : ChunkExtent.NONE);
        for (int distance = 1; distance < core; distance *= 2) {
            int peer = Hosts.leader(hosts, own ^ distance);
            plan.copy(OUT, SCRATCH, 0, 1).send(peer, SCRATCH, 0, 1).receiveCombine(peer, OUT, 0, 1);
        }
        if (hasExtra) {
            plan.send(Hosts.leader(hosts, own + core), OUT, 0, 1);
        }
    }

    /**
     * Makes an all-gather by recursive doubling, with {@code log2 p} steps and {@code n(p-1)/p} bytes, where n is the
     * size of the full result. A rank exchanges all chunks that it has. After the first step the block of a rank with a
     * partner has a second range of chunks, above the largest power of two.
     */
    static Plan doublingAllGather(int rank, int size) {
        int core = Integer.highestOneBit(size);
        PlanBuilder plan =
                new PlanBuilder(DOUBLING, size, ChunkExtent.only(rank), ChunkExtent.all(size)).copy(IN, OUT, rank, 1);
        if (rank >= core) {
            return plan.send(rank - core, OUT, rank, 1)
                    .receive(rank - core, OUT, 0, size)
                    .build();
        }
        if (rank + core < size) {
            plan.receive(rank + core, OUT, rank + core, 1);
        }
        for (int distance = 1; distance < core; distance *= 2) {
            int peer = rank ^ distance;
            ChunkExtent own = extras(rank, distance, size);
            ChunkExtent theirs = extras(peer, distance, size);
            plan.send(peer, OUT, block(rank, distance), distance);
            plan.receive(peer, OUT, block(peer, distance), distance);
            if (own.count() > 0) {
                plan.send(peer, OUT, own.first(), own.count());
            }
            if (theirs.count() > 0) {
                plan.receive(peer, OUT, theirs.first(), theirs.count());
            }
        }
        if (rank + core < size) {
            plan.send(rank + core, OUT, 0, size);
        }
        return plan.build();
    }

    /** Returns the chunks that the ranks of a block received from their partners above the largest power of two. */
    private static ChunkExtent extras(int rank, int length, int size) {
        int first = Integer.highestOneBit(size) + block(rank, length);
        return first < size ? new ChunkExtent(first, Math.min(length, size - first)) : ChunkExtent.NONE;
    }

    /**
     * Makes an all-reduce by recursive halving, after which each rank has one reduced chunk, then recursive doubling.
     *
     * <p>The plan has {@code 2 log2 p} steps and {@code 2n(p-1)/p} bytes for powers of two. Ranks above the largest
     * power of two cost {@code n} more bytes.
     */
    static Plan halvingAllReduce(int rank, int size) {
        int core = Integer.highestOneBit(size);
        PlanBuilder plan = new PlanBuilder("halvingDoubling", core, ChunkExtent.all(core), ChunkExtent.all(core));
        plan.copy(IN, OUT, 0, core);
        if (rank >= core) {
            return plan.send(rank - core, OUT, 0, core)
                    .receive(rank - core, OUT, 0, core)
                    .build();
        }
        boolean hasExtra = rank + core < size;
        if (hasExtra) {
            plan.receiveCombine(rank + core, OUT, 0, core);
        }
        for (int half = core / 2; half >= 1; half /= 2) {
            int peer = rank ^ half;
            plan.send(peer, OUT, block(peer, half), half).receiveCombine(peer, OUT, block(rank, half), half);
        }
        for (int half = 1; half < core; half *= 2) {
            int peer = rank ^ half;
            plan.send(peer, OUT, block(rank, half), half).receive(peer, OUT, block(peer, half), half);
        }
        if (hasExtra) {
            plan.send(rank + core, OUT, 0, core);
        }
        return plan.build();
    }

    /**
     * Makes a reduce-scatter by recursive halving, the first half of the all-reduce, with {@code log2 p} steps and
     * {@code n(p-1)/p} bytes, where n is the size of the full operand. In each step a rank exchanges half of its
     * remaining chunks with one other rank. Partial sums are in SCRATCH, which has half the size of the operand. If the
     * world size is not a power of two, {@link TreeReduceScatter} combines in the same order.
     */
    static Plan halvingReduceScatter(int rank, int size) {
        if (isInTree(size)) {
            return TreeReduceScatter.plan(HALVING, rank, tree(size));
        }
        int length = size / 2;
        PlanBuilder plan = new PlanBuilder(HALVING, size, ChunkExtent.all(size), ChunkExtent.only(rank))
                .scratch(new ChunkExtent(block(rank, length), length))
                .copy(IN, SCRATCH, block(rank, length), length);
        Region sending = IN;
        for (int half = length; half > 1; half /= 2) {
            int peer = rank ^ half;
            plan.send(peer, sending, block(peer, half), half).receiveCombine(peer, SCRATCH, block(rank, half), half);
            sending = SCRATCH;
        }
        int last = rank ^ 1;
        return plan.send(last, SCRATCH, last, 1)
                .copy(SCRATCH, OUT, rank, 1)
                .receiveCombine(last, OUT, rank, 1)
                .build();
    }

    /** Returns the largest number of chunks that a rank has in SCRATCH in a reduce-scatter by halving. */
    static int scratchOfReduceScatter(int size) {
        return isInTree(size) ? TreeReduceScatter.scratchChunks(tree(size)) : size / 2;
    }

    private static boolean isInTree(int size) {
        return Integer.bitCount(size) != 1 || size <= 2;
    }

    private static ReductionTree tree(int size) {
        return ReductionTree.halving(Hosts.ofOneRank(size));
    }

    /** Returns the first chunk of the aligned block of {@code length} chunks that contains the chunk of a rank. */
    private static int block(int rank, int length) {
        return rank / length * length;
    }

    /**
     * Makes an all-to-all for small parts of equal length, with {@code ceil(log2 p)} steps and about {@code n/2 log2 p}
     * bytes. The bits of i, the distance of a part to its destination rank, decide how the part moves. If bit k of i is
     * set, then in step k the part goes to the rank that is {@code 2^k} higher, together with all other parts in whose
     * distance bit k is set. A rank that forwards a part stores the part between the two steps. Source: Bruck and
     * others 1997, doi:10.1109/71.642949.
     *
     * <p>No part is packed or rotated, because links put all parts that are sent to one rank at the same time into one
     * write. A forwarded part is alternately in SCRATCH and in its chunk of OUT, and at the end in OUT. So no part is
     * received into memory from which another part is still being sent.
     */
    static Plan bruck(int rank, int size) {
        PlanBuilder plan = new PlanBuilder("bruck", size, ChunkExtent.all(size), ChunkExtent.all(size));
        if (size > 2) {
            plan.scratch(ChunkExtent.all(size));
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

    /** Returns the region of a part after its steps up to a bit: OUT if an even number of steps remains. */
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
        PlanBuilder plan = new PlanBuilder("dissemination", rounds + 1, ChunkExtent.NONE, ChunkExtent.NONE)
                .scratch(ChunkExtent.all(rounds + 1));
        addRounds(plan, rank, size, null);
        return plan.build();
    }

    /** Returns the number of rounds after which each rank or host depends on every other rank or host. */
    static int rounds(int count) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
    }

    /**
     * Adds the rounds of a barrier. The rounds are between ranks if {@code hosts} is null, else between the leaders of
     * hosts. In round k a rank sends a message to the rank that is {@code 2^k} higher, after the rank has received the
     * message of the previous round. Round k sends chunk k and receives chunk {@code k + 1}, which round {@code k + 1}
     * sends.
     */
    static void addRounds(PlanBuilder plan, int own, int count, Hosts hosts) {
        for (int round = 0; round < rounds(count); round++) {
            int distance = 1 << round;
            plan.send(Hosts.leader(hosts, (own + distance) % count), SCRATCH, round, 1);
            plan.receive(Hosts.leader(hosts, Math.floorMod(own - distance, count)), SCRATCH, round + 1, 1);
        }
    }
}

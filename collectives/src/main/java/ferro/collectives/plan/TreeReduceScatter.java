package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

import ferro.collectives.plan.ReductionTree.PartialSum;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Reduce-scatter that combines each part in the order of a {@link ReductionTree}, so that its result has the same bits
 * as the all-reduce of that tree. A rank sends {@code n(p-1)/p} bytes, where n is the size of the full operand.
 *
 * <p>In OUT, the rank of a part combines its own operand with the data that other ranks send. The rank of a part
 * computes a sum without its own operand in SCRATCH and combines that sum into OUT. A reduce-scatter of up to five
 * ranks therefore needs one step. SCRATCH has one chunk per part. If a sum needs more chunks, another rank computes and
 * sends the sum. More than five ranks need about {@code log2 p - 1} steps. A sum of one host is computed only on that
 * host, so that the sum crosses between hosts once.
 *
 * <p>The steps of each part are numbered. All ranks order the steps by number, then by part, and each rank does its own
 * steps. So sender and receiver agree on the order of messages of a link, and the first unfinished message can always
 * proceed. A rank does not make the steps of other ranks. A rank only counts the steps of other ranks, because a sum
 * contains the number of its steps.
 */
final class TreeReduceScatter {
    /** A value in place of a rank. With this value, the object keeps the steps of all ranks that write SCRATCH. */
    static final int ALL_RANKS = -1;

    private final ReductionTree tree;
    private final Hosts hosts;
    private final int rank;
    /** The number of the leaf that has the operand of this rank; -1 for all ranks. */
    private final int leaf;

    private final List<PartStep> kept = new ArrayList<>();
    private int part;
    private int number;
    private long visited;

    /** A message between two ranks, or a step inside one rank, for one part. */
    private record PartStep(int part, int number, int from, Region source, int to, Region into, boolean combines) {}

    TreeReduceScatter(ReductionTree tree, int rank) {
        this.tree = tree;
        this.hosts = tree.hosts;
        this.rank = rank;
        this.leaf = rank == ALL_RANKS ? -1 : tree.leafOf(rank);
    }

    static Plan plan(String name, int rank, ReductionTree tree) {
        return new TreeReduceScatter(tree, rank).plan(name);
    }

    /** Returns the largest number of chunks that a rank has in SCRATCH. */
    static int scratchChunks(ReductionTree tree) {
        return new TreeReduceScatter(tree, ALL_RANKS).scratchChunks();
    }

    Plan plan(String name) {
        int size = hosts.worldSize();
        for (int next = 0; next < size; next++) {
            walk(next);
        }
        PlanBuilder plan =
                new PlanBuilder(name, size, ChunkExtent.all(size), ChunkExtent.only(rank)).scratch(scratch());
        for (long entry : inOrder()) {
            add(kept.get((int) entry), rank, plan);
        }
        return plan.build();
    }

    /** Returns the order of the steps: by number, then by part. The low half of an entry is the index of the step. */
    private long[] inOrder() {
        long[] order = new long[kept.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = (long) kept.get(i).number << Integer.SIZE | i;
        }
        Arrays.sort(order);
        return order;
    }

    private ChunkExtent scratch() {
        int first = Integer.MAX_VALUE;
        int last = -1;
        for (PartStep step : kept) {
            if (step.to == rank && step.into == SCRATCH) {
                first = Math.min(first, step.part);
                last = Math.max(last, step.part);
            }
        }
        return last < 0 ? ChunkExtent.NONE : new ChunkExtent(first, last - first + 1);
    }

    private static void add(PartStep step, int rank, PlanBuilder plan) {
        if (step.from == step.to) {
            if (step.combines) {
                plan.combine(step.source, step.into, step.part, 1);
            } else {
                plan.copy(step.source, step.into, step.part, 1);
            }
        } else if (step.from == rank) {
            plan.send(step.to, step.source, step.part, 1);
        } else if (step.combines) {
            plan.receiveCombine(step.from, step.into, step.part, 1);
        } else {
            plan.receive(step.from, step.into, step.part, 1);
        }
    }

    /**
     * Counts the chunks of SCRATCH, in a walk over the parts from both ends. A rank that the walk has not met from both
     * ends has at most one chunk for each part that remains. So the walk ends when a rank has as many chunks as parts
     * remain.
     */
    int scratchChunks() {
        int size = hosts.worldSize();
        int[] first = new int[size];
        int[] last = new int[size];
        Arrays.fill(first, size);
        Arrays.fill(last, -1);
        int max = 0;
        for (int walked = 0; max < size - walked; walked++) {
            walk(walked);
            max = Math.max(max, widest(first, last));
            walk(size - 1 - walked);
            max = Math.max(max, widest(first, last));
        }
        return max;
    }

    /**
     * Records that the kept steps write the current part. Returns the largest number of parts from the first to the
     * last part that a rank writes.
     */
    private int widest(int[] first, int[] last) {
        int max = 0;
        for (PartStep step : kept) {
            first[step.to] = Math.min(first[step.to], part);
            last[step.to] = Math.max(last[step.to], part);
            max = Math.max(max, last[step.to] - first[step.to] + 1);
        }
        kept.clear();
        return max;
    }

    /** Walks the steps of a part, and keeps the steps of this rank. */
    private void walk(int next) {
        part = next;
        number = 0;
        if (!tree.isRing()) {
            make(tree.root, part, OUT);
            return;
        }
        int count = hosts.count();
        int begin = part * count / hosts.worldSize();
        int own = hosts.of(part);
        makeOfOneHost(tree.ofHost(own), part, OUT);
        new OperandSequence(null, begin).combineOthers(Math.floorMod(own - begin, count), part, OUT);
    }

    private void make(PartialSum sum, int at, Region into) {
        visited++;
        if (sum.isOfOneHost()) {
            if (tree.has(sum, at)) {
                makeOfOneHost(sum, at, into);
            } else {
                step(sum, at, into, false);
            }
        } else if (into == SCRATCH && isOfOthers(sum, at)) {
            number += tree.has(sum, at) ? sum.stepsIfMade : sum.stepsIfFetched;
        } else {
            boolean isLeftFirst = tree.has(sum.left, at) || !tree.has(sum.right, at);
            make(isLeftFirst ? sum.left : sum.right, at, into);
            combine(isLeftFirst ? sum.right : sum.left, at, into);
        }
    }

    private void makeOfOneHost(PartialSum sum, int at, Region into) {
        List<Integer> ranks = hosts.ranks(sum.host);
        int own = Collections.binarySearch(ranks, at);
        if (isOfOthers(sum, at)) {
            number += sum.stepsIfMade + (own > 1 ? 1 : 0);
            return;
        }
        keep(at, IN, at, into, false);
        new OperandSequence(ranks, 0).combineOthers(own, at, into);
    }

    /** Combines a sum into a region of a rank. The sum does not include the operand of this rank. */
    private void combine(PartialSum sum, int at, Region into) {
        boolean isMadeLocally = into == OUT && !sum.isOfOneHost();
        if (isMadeLocally) {
            make(sum, at, SCRATCH);
            keep(at, SCRATCH, at, into, true);
        } else {
            step(sum, at, into, true);
        }
    }

    /** Copies or combines an operand, or a sum that another rank computes, into a region of a rank. */
    private void step(PartialSum sum, int at, Region into, boolean combines) {
        visited++;
        if (sum.isOperand()) {
            keep(hosts.leader(sum.host), IN, at, into, combines);
        } else if (isOfOthers(sum, at)) {
            number += sum.stepsIfSent();
        } else {
            int maker = tree.maker(sum, part);
            make(sum, maker, SCRATCH);
            keep(maker, SCRATCH, at, into, combines);
        }
    }

    /** Returns whether this rank has no step in the computation of a sum on another rank. */
    private boolean isOfOthers(PartialSum sum, int at) {
        return rank != ALL_RANKS && rank != at && !sum.hasLeaf(leaf);
    }

    private void keep(int from, Region source, int to, Region into, boolean combines) {
        visited++;
        boolean isKept = rank == ALL_RANKS ? into == SCRATCH : from == rank || to == rank;
        if (isKept) {
            kept.add(new PartStep(part, number, from, source, to, into, combines));
        }
        number++;
    }

    /** Returns how many sums and steps were visited so far. */
    long visited() {
        return visited;
    }

    /**
     * Values that are combined one after the other. The values are the operands of the ranks of a host or, if
     * {@code ranks} is null, the sums of the hosts of a ring from host {@code first} on.
     */
    private final class OperandSequence {
        private final List<Integer> ranks;
        private final int first;

        OperandSequence(List<Integer> ranks, int first) {
            this.ranks = ranks;
            this.first = first;
        }

        private int count() {
            return ranks == null ? hosts.count() : ranks.size();
        }

        /** Returns the index of the value that has the operand of this rank; negative without such a value. */
        private int indexOfThisRank() {
            return ranks == null
                    ? Math.floorMod(hosts.of(rank) - first, hosts.count())
                    : Collections.binarySearch(ranks, rank);
        }

        /** Returns the number of steps of the values from index {@code from} to before index {@code to}. */
        private int steps(int from, int to) {
            return ranks == null ? tree.stepsOfHosts(first + from, first + to) : to - from;
        }

        private void add(int index, int at, Region into, boolean combines) {
            if (ranks == null) {
                step(tree.ofHost(first + index), at, into, combines);
            } else {
                keep(ranks.get(index), IN, at, into, combines);
            }
        }

        /**
         * Combines all other values into a region that has the value {@code own}. If several values precede that value,
         * they are first combined in SCRATCH.
         */
        void combineOthers(int own, int at, Region into) {
            if (own == 1) {
                add(0, at, into, true);
            } else if (own > 1) {
                add(0, at, SCRATCH, false);
                combine(1, own, at, SCRATCH);
                keep(at, SCRATCH, at, into, true);
            }
            combine(own + 1, count(), at, into);
        }

        private void combine(int from, int to, int at, Region into) {
            int next = from;
            int end = to;
            if (rank != ALL_RANKS && rank != at) {
                int own = indexOfThisRank();
                boolean isIn = own >= from && own < to;
                next = isIn ? own : to;
                end = isIn ? own + 1 : to;
            }
            number += steps(from, next);
            for (; next < end; next++) {
                add(next, at, into, true);
            }
            number += steps(end, to);
        }
    }
}

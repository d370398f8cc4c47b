package ferro.collectives.algorithm;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The order in which the operands of an element are combined, as a tree. A node is the operand of a rank or the sum of
 * two nodes. The sides of a sum may be swapped, because that changes no bit. Immutable.
 */
final class ReductionTree {
    private final ReductionTree left;
    private final ReductionTree right;
    private final BitSet ranks;
    private final int height;
    private final boolean isOfOneHost;

    private ReductionTree(ReductionTree left, ReductionTree right, BitSet ranks, boolean isOfOneHost) {
        this.left = left;
        this.right = right;
        this.ranks = ranks;
        this.height = left == null ? 0 : 1 + Math.max(left.height, right.height);
        this.isOfOneHost = isOfOneHost;
    }

    /** Returns the operand of a rank. */
    static ReductionTree operand(int rank) {
        BitSet only = new BitSet();
        only.set(rank);
        return new ReductionTree(null, null, only, false);
    }

    /** Returns the operands of several ranks. */
    static List<ReductionTree> operands(List<Integer> ranks) {
        return ranks.stream().map(ReductionTree::operand).toList();
    }

    /** Returns the operands of all ranks of a world. */
    static List<ReductionTree> operandsOf(int worldSize) {
        return IntStream.range(0, worldSize).mapToObj(ReductionTree::operand).toList();
    }

    private ReductionTree plus(ReductionTree other) {
        BitSet both = (BitSet) ranks.clone();
        both.or(other.ranks);
        return new ReductionTree(this, other, both, false);
    }

    /** Combines values one after the other. */
    static ReductionTree inTurn(List<ReductionTree> values) {
        return values.stream().reduce(ReductionTree::plus).orElseThrow();
    }

    /** Combines values as {@link RecursiveDoublingAllReduce} does. */
    static ReductionTree doubling(List<ReductionTree> values) {
        List<ReductionTree> sums = core(values);
        while (sums.size() > 1) {
            List<ReductionTree> wider = new ArrayList<>();
            for (int i = 0; i < sums.size(); i += 2) {
                wider.add(sums.get(i).plus(sums.get(i + 1)));
            }
            sums = wider;
        }
        return sums.get(0);
    }

    /** Combines values as {@link HalvingDoublingAllReduce} does. */
    static ReductionTree halving(List<ReductionTree> values) {
        List<ReductionTree> sums = core(values);
        while (sums.size() > 1) {
            List<ReductionTree> wider = new ArrayList<>();
            int half = sums.size() / 2;
            for (int i = 0; i < half; i++) {
                wider.add(sums.get(i).plus(sums.get(i + half)));
            }
            sums = wider;
        }
        return sums.get(0);
    }

    /**
     * Returns the first 2^k values, where 2^k is the largest power of two up to their number. Each remaining value is
     * added to one of the first values.
     */
    private static List<ReductionTree> core(List<ReductionTree> values) {
        int core = Integer.highestOneBit(values.size());
        List<ReductionTree> sums = new ArrayList<>(values.subList(0, core));
        for (int i = core; i < values.size(); i++) {
            sums.set(i - core, sums.get(i - core).plus(values.get(i)));
        }
        return sums;
    }

    /** Returns the same sum, marked so that only ranks whose operands are in the sum compute it. */
    ReductionTree ofOneHost() {
        return new ReductionTree(left, right, ranks, true);
    }

    boolean isOperand() {
        return left == null;
    }

    /** Returns the side whose tree is higher. */
    ReductionTree left() {
        return left;
    }

    ReductionTree right() {
        return right;
    }

    boolean has(int rank) {
        return ranks.get(rank);
    }

    /** Returns whether only ranks whose operands this sum has may compute it. */
    boolean isOfOneHost() {
        return isOfOneHost;
    }

    /**
     * Returns the rank that computes this sum for a part if the rank of the part does not. The operand of that rank is
     * at the end of the longest branch.
     */
    int maker(int part) {
        ReductionTree node = this;
        for (int bits = part; !node.isOperand(); ) {
            if (node.left.height == node.right.height) {
                node = (bits & 1) == 0 ? node.left : node.right;
                bits >>= 1;
            } else {
                node = node.left.height > node.right.height ? node.left : node.right;
            }
        }
        return node.ranks.nextSetBit(0);
    }
}

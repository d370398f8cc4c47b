package ferro.collectives.plan;

import java.util.List;

/**
 * The order in which the operands of an element are combined, as a tree. A leaf is the sum of one host, which combines
 * the operands of the host's ranks one after the other. An inner node is the sum of its two sides. The two sides of a
 * sum may be swapped, because a swap changes no bit. Immutable.
 *
 * <p>The leaves are numbered from left to right. So a node stores its hosts as two numbers, and a tree of n ranks takes
 * memory in proportion to n.
 */
final class ReductionTree {
    final Hosts hosts;
    private final PartialSum[] ofHost;
    /** The sum of each host, by the number of the host's leaf in the tree. */
    private final PartialSum[] ofLeaf;
    /** The sum of all operands; null in a ring, in which the sum depends on the part. */
    final PartialSum root;
    /** In a ring, the number of steps for making and sending all hosts' sums before a host; null without a ring. */
    private final int[] stepsBefore;

    private int leaves;

    private ReductionTree(Hosts hosts, TreeShape shape) {
        this.hosts = hosts;
        this.ofHost = new PartialSum[hosts.count()];
        this.ofLeaf = new PartialSum[hosts.count()];
        this.root = switch (shape) {
            case DOUBLING -> block(0, core());
            case HALVING -> stride(0, 1);
            case RING -> null;
        };
        this.stepsBefore = root == null ? countSteps() : null;
    }

    private enum TreeShape {
        DOUBLING,
        HALVING,
        RING
    }

    static final class PartialSum {
        final PartialSum left;
        final PartialSum right;
        /** The host of a sum of one host; -1 for other sums. */
        final int host;

        private final int firstLeaf;
        private final int endLeaf;
        private final int height;
        /** The node at which the bits of a part choose between two branches of equal height for the first time. */
        private final PartialSum firstFork;
        /** The number of forks between this node and each of its leaves; -1 if some sides have unequal heights. */
        private final int forks;

        /** The number of steps that the maker of this sum needs to make the sum. */
        final int stepsIfMade;
        /** The number of steps that a rank outside of this sum needs to make the sum in SCRATCH. */
        final int stepsIfFetched;

        private PartialSum(int host, int ranks, int leaf) {
            this.left = null;
            this.right = null;
            this.host = host;
            this.firstLeaf = leaf;
            this.endLeaf = leaf + 1;
            this.height = ranks - 1;
            this.firstFork = this;
            this.forks = 0;
            this.stepsIfMade = ranks;
            this.stepsIfFetched = ranks == 1 ? 1 : ranks + 1;
        }

        private PartialSum(PartialSum left, PartialSum right) {
            this.left = left;
            this.right = right;
            this.host = -1;
            this.firstLeaf = left.firstLeaf;
            this.endLeaf = right.endLeaf;
            this.height = 1 + Math.max(left.height, right.height);
            boolean isFork = left.height == right.height;
            this.firstFork = isFork ? this : left.height > right.height ? left.firstFork : right.firstFork;
            this.forks = isFork && left.forks >= 0 && left.forks == right.forks ? left.forks + 1 : -1;
            boolean isOfOperands = left.isOperand() && right.isOperand();
            this.stepsIfMade = left.stepsIfSent() + right.stepsIfSent() - (isOfOperands ? 0 : 1);
            this.stepsIfFetched = left.stepsIfFetched + right.stepsIfSent();
        }

        boolean isOfOneHost() {
            return left == null;
        }

        boolean isOperand() {
            return left == null && height == 0;
        }

        boolean hasLeaf(int leaf) {
            return leaf >= firstLeaf && leaf < endLeaf;
        }

        /** Returns the number of steps that the maker of this sum needs to make and send the sum. */
        int stepsIfSent() {
            return isOperand() ? 1 : stepsIfMade + 1;
        }
    }

    /** Combines hosts as {@link HalvingPlans#doublingAllReduce} combines ranks. */
    static ReductionTree doubling(Hosts hosts) {
        return new ReductionTree(hosts, TreeShape.DOUBLING);
    }

    /** Combines hosts as {@link HalvingPlans#halvingAllReduce} combines ranks. */
    static ReductionTree halving(Hosts hosts) {
        return new ReductionTree(hosts, TreeShape.HALVING);
    }

    /** Combines hosts one after the other, beginning with the host that the part belongs to. */
    static ReductionTree ring(Hosts hosts) {
        return new ReductionTree(hosts, TreeShape.RING);
    }

    /** Returns the largest power of two up to the number of hosts. */
    private int core() {
        return Integer.highestOneBit(hosts.count());
    }

    private PartialSum block(int first, int width) {
        return width == 1 ? value(first) : new PartialSum(block(first, width / 2), block(first + width / 2, width / 2));
    }

    private PartialSum stride(int first, int apart) {
        return apart == core()
                ? value(first)
                : new PartialSum(stride(first, 2 * apart), stride(first + apart, 2 * apart));
    }

    /**
     * Returns the sum of the ranks of a host whose number is below {@code core()}. If a host with the number {@code
     * host + core()} exists, the sum includes its ranks.
     */
    private PartialSum value(int host) {
        PartialSum own = leaf(host);
        return host + core() < hosts.count() ? new PartialSum(own, leaf(host + core())) : own;
    }

    private PartialSum leaf(int host) {
        PartialSum leaf = new PartialSum(host, hosts.ranks(host).size(), leaves);
        ofHost[host] = leaf;
        ofLeaf[leaves++] = leaf;
        return leaf;
    }

    private int[] countSteps() {
        int[] before = new int[hosts.count() + 1];
        for (int host = 0; host < hosts.count(); host++) {
            before[host + 1] = before[host] + leaf(host).stepsIfSent();
        }
        return before;
    }

    boolean isRing() {
        return root == null;
    }

    /** Returns the sum of a host. Host numbers wrap around. */
    PartialSum ofHost(int host) {
        return ofHost[host % ofHost.length];
    }

    /** Returns the number of steps for making and sending the sums of hosts of a ring. Host numbers wrap around. */
    int stepsOfHosts(int from, int to) {
        return stepsBefore(to) - stepsBefore(from);
    }

    private int stepsBefore(int host) {
        int count = hosts.count();
        return host <= count ? stepsBefore[host] : stepsBefore[count] + stepsBefore[host - count];
    }

    boolean has(PartialSum sum, int rank) {
        return sum.hasLeaf(leafOf(rank));
    }

    int leafOf(int rank) {
        return ofHost[hosts.of(rank)].firstLeaf;
    }

    /**
     * Returns the rank that computes a sum for a part if the rank of the part does not compute the sum. The operand of
     * the returned rank is at the end of the longest branch of the tree. If two branches have the same length, the next
     * bit of the number of the part chooses a branch. If all branches have the same length, these bits in reverse order
     * are the number of the leaf.
     */
    int maker(PartialSum sum, int part) {
        PartialSum node = sum.firstFork;
        int bits = part;
        for (; node.forks < 0; bits >>= 1) {
            node = ((bits & 1) == 0 ? node.left : node.right).firstFork;
        }
        if (node.forks > 0) {
            int leaf = node.firstLeaf + (Integer.reverse(bits) >>> (Integer.SIZE - node.forks));
            bits >>= node.forks;
            node = ofLeaf[leaf];
        }
        List<Integer> ranks = hosts.ranks(node.host);
        return ranks.get(ranks.size() == 1 ? 0 : bits & 1);
    }
}

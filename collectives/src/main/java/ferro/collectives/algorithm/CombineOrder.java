package ferro.collectives.algorithm;

/**
 * The order in which an algorithm combines the operands of an element. Algorithms of one topology and one order give
 * the same bits if the number of elements is a multiple of the world size. An all-reduce and a reduce-scatter that give
 * the same bits are called twins.
 */
public enum CombineOrder {
    /** The algorithm has no defined order, or combines nothing. */
    UNSPECIFIED,
    /**
     * Combines first the operand of the rank whose part contains the element, then the operands of the ranks after it,
     * one after the other.
     */
    PART_FIRST,
    /**
     * Combines the operands of all ranks in turn, beginning with the rank after the one whose part contains the
     * element. The operand of the rank of the part is last.
     */
    PART_LAST,
    /**
     * Combines first the operand of the rank whose part contains the element, then the operands of the ranks before it,
     * down to rank 0, then the operands of the ranks after it.
     */
    PART_OUTWARD,
    /** Combines first the operand of rank 0, then the operands of the other ranks, one after the other. */
    RANKS,
    /**
     * Combines first the operands of pairs of ranks at distance 1, then pairs of these pairs at distance 2, and so on.
     */
    DOUBLING,
    /**
     * First combines the operands of each two ranks whose numbers differ by half the world size. Then combines the sums
     * of ranks whose numbers differ by a quarter of the world size, and so on.
     */
    HALVING,
    /**
     * Combines first the operands of the ranks of each host, one after the other; then the sums of the hosts, in the
     * order in which {@link #DOUBLING} combines ranks.
     */
    HOSTS_DOUBLING,
    /**
     * Combines first the operands of the ranks of each host, one after the other; then the sums of the hosts, beginning
     * with the host that the part belongs to.
     */
    HOSTS_RING
}

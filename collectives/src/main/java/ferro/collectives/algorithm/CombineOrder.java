package ferro.collectives.algorithm;

/**
 * The order in which an algorithm combines the operands of an element. Algorithms of one topology and one order give
 * the same bits if the number of elements is a multiple of the world size. An all-reduce and a reduce-scatter that give
 * the same bits are called twins.
 */
public enum CombineOrder {
    /** No defined order, or an algorithm that combines nothing. */
    UNSPECIFIED,
    /**
     * First the operand of the rank whose part contains the element, then the operands of the ranks after it, one after
     * the other.
     */
    PART_FIRST,
    /**
     * First the operand of the rank after the one whose part contains the element, then those of the ranks after it;
     * the operand of the rank of the part is last.
     */
    PART_LAST,
    /** First the operand of rank 0, then the operands of the other ranks, one after the other. */
    RANKS,
    /** First the operands of pairs of ranks at distance 1, then pairs of these pairs at distance 2, and so on. */
    DOUBLING,
    /**
     * First adds the operands of each two ranks whose numbers differ by half the world size. Then adds these sums for
     * ranks that differ by a quarter of the world size, and so on.
     */
    HALVING,
    /**
     * First the operands of the ranks of each host, one after the other; then the sums of the hosts, in the order in
     * which {@link #DOUBLING} combines ranks.
     */
    HOSTS_DOUBLING,
    /**
     * First the operands of the ranks of each host, one after the other; then the sums of the hosts, beginning with the
     * host that the part belongs to.
     */
    HOSTS_RING
}

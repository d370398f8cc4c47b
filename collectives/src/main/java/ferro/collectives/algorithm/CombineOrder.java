package ferro.collectives.algorithm;

/**
 * The order in which an algorithm combines the operands of an element. Algorithms of one topology and one order give
 * the same bits if the number of elements is a multiple of the world size. Such an all-reduce and reduce-scatter are
 * called twins.
 */
public enum CombineOrder {
    /** No defined order, or an algorithm that combines nothing. */
    UNSPECIFIED,
    /** First the rank whose part contains the element, then the ranks after it, one after the other. */
    PART_FIRST,
    /**
     * First the rank after the one whose part contains the element, then the ranks after it; the rank of the part is
     * last.
     */
    PART_LAST,
    /** First rank 0, then the other ranks, one after the other. */
    RANKS,
    /** First pairs of ranks at distance 1, then pairs of these pairs at distance 2, and so on. */
    DOUBLING,
    /**
     * First pairs of ranks at a distance of half the world size, then pairs of these pairs at a quarter, and so on.
     */
    HALVING,
    /**
     * First the ranks of each host, one after the other; then hosts in the order in which {@link #DOUBLING} combines
     * ranks.
     */
    HOSTS_DOUBLING,
    /**
     * First the ranks of each host, one after the other; then hosts, beginning with the host that the part belongs to.
     */
    HOSTS_RING
}

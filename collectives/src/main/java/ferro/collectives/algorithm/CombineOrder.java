package ferro.collectives.algorithm;

/**
 * The order in which an algorithm combines the operands of an element. Algorithms of one topology and one order give the
 * same bits, where the number of elements is a multiple of the world size: an all-reduce and a reduce-scatter are twins.
 */
public enum CombineOrder {
    /** Nothing is promised, or nothing is combined. */
    UNSPECIFIED,
    /** The rank of the part that the element lies in first, then the ranks after it, one after the other. */
    PART_FIRST,
    /** The rank after that of the part first, then the ranks after it; the rank of the part last. */
    PART_LAST,
    /** Rank 0 first, then the others, one after the other. */
    RANKS,
    /** Ranks at distance 1 in pairs, then pairs at distance 2, and so on. */
    DOUBLING,
    /** Ranks at half the world in pairs, then pairs at a quarter, and so on. */
    HALVING,
    /** The ranks of each host, one after the other; then hosts as {@link #DOUBLING} takes ranks. */
    HOSTS_DOUBLING,
    /** The ranks of each host, one after the other; then hosts from the one on that the part belongs to. */
    HOSTS_RING
}

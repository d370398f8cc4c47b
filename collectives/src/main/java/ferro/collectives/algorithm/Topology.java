package ferro.collectives.algorithm;

/** How the ranks of a group reach each other, which decides the algorithms that they can run. */
public enum Topology {
    /** Every rank sends messages to every other. */
    FLAT,
    /** Every rank sends messages to every other; some, but not all, share memory ({@link Hosts}). */
    HOSTS,
    /** All ranks share memory. */
    SHARED_MEMORY
}

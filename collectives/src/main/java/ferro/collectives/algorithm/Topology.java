package ferro.collectives.algorithm;

/** The way in which the ranks of a group reach each other; it decides which algorithms they can run. */
public enum Topology {
    /** Every rank sends messages to every other. */
    FLAT,
    /** Every rank sends messages to every other; some ranks, but not all, share memory ({@link Hosts}). */
    HOSTS,
    /** All ranks share memory. */
    SHARED_MEMORY
}

package ferro.collectives.algorithm;

/**
 * The way in which the ranks of a group send data to each other. The topology decides which algorithms the ranks can
 * run.
 */
public enum Topology {
    /** Every rank sends messages to every other rank. */
    FLAT,
    /** Every rank sends messages to every other rank; some ranks, but not all, share memory ({@link Hosts}). */
    HOSTS,
    /** All ranks share memory. */
    SHARED_MEMORY
}

package ferro.backend.simulated;

/** Decides when an action of a rank reaches its peer: at once between threads, after a delay under a seed. */
interface SimulatedMedium {
    /** Makes all posts of a channel up to this one visible to the receiver; called by the sender's progress thread. */
    void posted(LaneQueue channel, long posts);

    /** Tells the sender that posts are consumed; {@code awaited} if the sender may wait for that. */
    void consumed(LaneQueue channel, long posts, boolean awaited);

    /** Registers a channel before it is used; between threads all channels are alike. */
    default void made(LaneQueue channel) {}

    /** Notes that a rank has died, before the others are told; between threads everything it has sent arrives at once. */
    default void died(int rank) {}

    /** Runs a task outside the threads that make progress, in order per pair of ranks: control messages and losses. */
    void later(int from, int to, Runnable task);

    /** Runs a task outside the threads that make progress, once all posts of a channel are published: its end. */
    void afterPosts(LaneQueue channel, Runnable task);

    /** Makes the doorbell of a rank's end of a group. */
    Doorbell doorbell(int rank);
}

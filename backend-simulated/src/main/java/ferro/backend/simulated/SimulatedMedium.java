package ferro.backend.simulated;

/** Decides when an action of a rank reaches its peer: at once between threads, after a delay under a seed. */
interface SimulatedMedium {
    /** Makes all posts of a channel up to a number visible to the receiver; called by the sender's progress thread. */
    void posted(LaneQueue channel, long posts);

    /** Notifies the sender that posts are consumed; {@code awaited} if the sender may wait for the notice. */
    void consumed(LaneQueue channel, long posts, boolean awaited);

    /** Registers a channel before its first use; not needed between threads. */
    default void made(LaneQueue channel) {}

    /** Records the death of a rank before the others are notified; between threads all its data arrives at once. */
    default void died(int rank) {}

    /** Runs a task outside the progress threads, in order for each pair of ranks: a control message or a loss. */
    void later(int from, int to, Runnable task);

    /** Runs a task outside the progress threads after all posts of a channel are published: the end of the channel. */
    void afterPosts(LaneQueue channel, Runnable task);

    /** Creates the doorbell of a rank for one group. */
    Doorbell doorbell(int rank);
}

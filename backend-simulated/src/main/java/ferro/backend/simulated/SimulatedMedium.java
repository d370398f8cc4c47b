package ferro.backend.simulated;

/** Decides when an action of a rank reaches a peer. Between threads this is at once, under a seed after a delay. */
interface SimulatedMedium {
    /** Makes all posts of a channel up to a number visible to the receiver; called by the sender's progress thread. */
    void posted(LaneQueue channel, long posts);

    /** Notifies the sender that posts are consumed; {@code awaited} if the sender may wait for the notice. */
    void consumed(LaneQueue channel, long posts, boolean awaited);

    /** Registers a channel before its first use; does nothing between threads. */
    default void made(LaneQueue channel) {}

    /** Records the death of a rank before others are notified. Between threads, all its data arrives at once. */
    default void died(int rank) {}

    /** Delivers a control message or a loss: runs the task outside the progress threads, in order by pair of ranks. */
    void later(int from, int to, Runnable task);

    /** Ends a channel: runs the task outside the progress threads after all posts of the channel are published. */
    void afterPosts(LaneQueue channel, Runnable task);

    /** Creates the doorbell of a rank for one group. */
    Doorbell doorbell(int rank);
}

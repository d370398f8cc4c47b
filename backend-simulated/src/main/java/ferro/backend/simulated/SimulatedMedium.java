package ferro.backend.simulated;

/**
 * A policy that decides when an action of a rank reaches a peer. Between threads, an action arrives at once. In a
 * seeded simulation, an action arrives after a delay.
 */
interface SimulatedMedium {
    /** On the sender's progress thread, makes all posts of a channel up to a number visible to the receiver. */
    void posted(LinkQueue channel, long posts);

    /** Notifies the sender that posts are consumed. {@code awaited} is whether the sender may wait for the notice. */
    void consumed(LinkQueue channel, long posts, boolean awaited);

    /** Registers a channel before its first use. Between threads, this method does nothing. */
    default void made(LinkQueue channel) {}

    /** Records the death of a rank before other ranks are notified. Between threads, all data arrives at once. */
    default void died(int rank) {}

    /**
     * Delivers a control message or a loss by a task. Tasks run outside the progress threads, in order for each pair of
     * ranks.
     */
    void later(int from, int to, Runnable task);

    /**
     * Ends a channel by a task. The task runs outside the progress threads, after all posts of the channel are
     * published.
     */
    void afterPosts(LinkQueue channel, Runnable task);

    /** Creates the doorbell of a rank for one group. */
    WakeSignal doorbell(int rank);
}

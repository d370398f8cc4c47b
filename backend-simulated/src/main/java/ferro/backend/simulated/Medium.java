package ferro.backend.simulated;

/** When what a rank does reaches its peer: at once between threads, after a delay under a seed. */
interface Medium {
    /** Lets the receiver see all posts of a channel up to this one; called by the sender's driver. */
    void posted(Channel channel, long posts);

    /** Lets the sender see that posts are consumed; {@code awaited} if it may wait for that. */
    void consumed(Channel channel, long posts, boolean awaited);

    /** Hears of a channel before it is used. */
    void made(Channel channel);

    /** Hears that a rank has died, before the others are told. */
    void died(int rank);

    /** Runs a task off the driving threads, in order per pair of ranks: control messages and losses. */
    void later(int from, int to, Runnable task);

    /** Runs a task off the driving threads once all that was posted on a channel is published: its end. */
    void afterPosts(Channel channel, Runnable task);

    /** Makes the bell of a rank's end of a group. */
    Bell bell(int rank);
}

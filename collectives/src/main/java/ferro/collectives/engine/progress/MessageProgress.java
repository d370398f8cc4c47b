package ferro.collectives.engine.progress;

/**
 * The messages of a group, on which {@link ProgressLoop} makes progress. Called with the progress lock held, except for
 * {@link #isIdle}.
 */
public interface MessageProgress {
    /**
     * Does what can be done now; returns whether anything moved.
     *
     * @param listens whether messages are taken too for which no call of this rank waits
     */
    boolean advance(boolean listens);

    /** Checks deadlines. */
    void check(long nowNanos);

    /**
     * Returns the time until {@link #check} may have something to do; called with the progress lock held, after a check
     * at the same time.
     *
     * @param isQuiet whether nothing has moved since the last call
     */
    long untilNext(long nowNanos, boolean isQuiet);

    /**
     * Ends a message whose thread was interrupted, if it can end alone.
     *
     * @return whether the work has ended; if not, the caller ends the group
     */
    boolean interrupted(PendingWork work);

    /** Returns whether nothing is pending; any thread. */
    boolean isIdle();
}

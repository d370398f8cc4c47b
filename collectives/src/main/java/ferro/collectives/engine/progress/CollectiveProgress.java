package ferro.collectives.engine.progress;

/**
 * The collectives of a group, on which {@link ProgressLoop} makes progress in their order. Called with the progress lock held,
 * except for {@link #isIdle}.
 */
public interface CollectiveProgress {
    /** Returns what runs the operation under way, and begins the next one if there was none; null if none waits. */
    StepMachine begin();

    /** Ends the operation under way, which is finished. */
    void finish();

    /** Returns whether the operation under way moves over links, or nothing runs. */
    boolean usesLinks();

    /** Checks deadlines and suspicions. */
    void check(long nowNanos);

    /**
     * Returns the time until {@link #check} may have something to do; called with the progress lock held, after a check
     * at the same time.
     *
     * @param isQuiet whether nothing has moved since the last call
     */
    long untilNext(long nowNanos, boolean isQuiet);

    /** Returns whether nothing is pending; any thread. */
    boolean isIdle();
}

package ferro.collectives.engine.progress;

/** When a run of the progress loop ends. */
public enum RunLimit {
    /** When the work is done. */
    DONE,
    /** When the work is done, a time has come, or the thread is interrupted; the work goes on. */
    TIME,
    /** When nothing is pending, or a caller wants the progress lock. */
    IDLE,
    /** After one iteration, without waiting. */
    ONE_ITERATION
}

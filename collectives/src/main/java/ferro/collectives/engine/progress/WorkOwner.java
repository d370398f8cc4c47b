package ferro.collectives.engine.progress;

import ferro.recorder.GroupRecorder;
import ferro.spi.GroupSpec;

/** The group of a {@link PendingWork}: its clock, its recorder, and how a thread waits in it. Thread-safe. */
interface WorkOwner {
    /** Returns name, rank and size of the group. */
    GroupSpec group();

    /** Returns the name of this rank for texts of failures. */
    String self();

    /** Returns the time on the context's clock. */
    long nanoTime();

    /** Returns how long this process was paused since a time. */
    long pausedSince(long sinceNanos);

    /** Returns the recorder of every operation. */
    GroupRecorder recorder();

    /** Runs a stage that a user chained, which may block. */
    void later(Runnable stage);

    /** Waits until the work is done, or until the limit says so; the time is looked at only where the limit is a time. */
    void await(PendingWork work, RunLimit until, long untilNanos);
}

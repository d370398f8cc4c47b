package ferro.collectives.engine.progress;

/** Moves data by steps and never waits. Belongs to the thread that holds the progress lock. */
public interface StepMachine {
    /** Does what can be done now; returns whether anything moved. */
    boolean advance();

    /** Returns whether the current operation is finished. */
    boolean isFinished();
}

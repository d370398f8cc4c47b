package ferro.examples.textmodel;

/** Replaces every rank's values by the average over all ranks: the only communication that data-parallel training needs. */
@FunctionalInterface
interface GradientExchange {
    /** For one process: its own values are the average. */
    GradientExchange ALONE = values -> {};

    /**
     * Averages in place.
     *
     * @param values as many on every rank; equal on all ranks afterwards, bit by bit
     */
    void average(float[] values);
}

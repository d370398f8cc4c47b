package ferro.examples.textmodel;

/** Makes every rank's values the average over all ranks: the one thing that data-parallel training needs of the others. */
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

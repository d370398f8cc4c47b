package ferro.examples.textmodel;

/**
 * One rank's contribution to a step: the gradient and the loss of its share, scaled so that the average over all ranks is
 * the mean over the whole batch, even if shares differ by a sample.
 *
 * <p>A contribution is one flat array, so that one all-reduce carries everything: the gradient of the parameters, the loss,
 * and a flag.
 */
final class ShareGradient {
    private final CharModel model;
    private final Batches batches;
    private final int worldSize;

    ShareGradient(CharModel model, Batches batches, int worldSize) {
        this.model = model;
        this.batches = batches;
        this.worldSize = worldSize;
    }

    int lossAt() {
        return model.shape().parameterCount();
    }

    int flagAt() {
        return lossAt() + 1;
    }

    int length() {
        return lossAt() + 2;
    }

    int samplesPerStep() {
        return batches.batchSize();
    }

    /** Copies parameters for the next contribution; the array is not kept. */
    void load(float[] parameters) {
        model.load(parameters);
    }

    /**
     * Computes a contribution from the parameters loaded last.
     *
     * @param step   number from 0
     * @param rank   rank whose share is computed
     * @param values result; the flag becomes 0
     */
    void compute(int step, int rank, float[] values) {
        int[] starts = batches.share(step, rank, worldSize);
        float scale = (float) ((double) worldSize / batches.batchSize());
        values[lossAt()] = (float) model.lossAndGradient(batches.text(), starts, scale, values);
        values[flagAt()] = 0;
    }
}

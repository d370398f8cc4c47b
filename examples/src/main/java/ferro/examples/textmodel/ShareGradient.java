package ferro.examples.textmodel;

import java.util.function.IntConsumer;

/**
 * The contribution of one rank to a step, which is the gradient and the loss of its share. The gradient and the loss
 * are scaled, so that the average over all ranks is the mean over the full batch. The average is this mean even if the
 * shares of two ranks differ by a sample.
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

    int length() {
        return model.shape().parameterCount();
    }

    int samplesPerStep() {
        return batches.batchSize();
    }

    /** Copies parameters for the next contribution. The array is not kept. */
    void load(float[] parameters) {
        model.load(parameters);
    }

    /**
     * Computes a contribution from the parameters of the last {@link #load}.
     *
     * @param step     number from 0
     * @param rank     rank whose share is computed
     * @param gradient result, in the order of the parameters
     * @param ready    consumer that is called with the index of each parameter as soon as its gradient is complete
     * @return this rank's contribution to the loss
     */
    double compute(int step, int rank, float[] gradient, IntConsumer ready) {
        int[] starts = batches.share(step, rank, worldSize);
        float scale = (float) ((double) worldSize / batches.batchSize());
        return model.lossAndGradient(batches.text(), starts, scale, gradient, ready);
    }
}

package ferro.examples.textmodel;

import java.util.SplittableRandom;

/**
 * The batches of a training run. A batch consists of windows of the text. Random numbers from the seed select the
 * windows of each step. Each rank takes a part of these windows.
 *
 * <p>Every rank draws the full batch and takes its own part, so no window numbers are sent. If the batch does not
 * divide evenly, the parts differ by at most one sample.
 */
final class Batches {
    private final byte[] text;
    private final int context;
    private final int batchSize;
    private final long seed;

    /**
     * Creates the batches of a text, and checks that there is enough text.
     *
     * @param text      symbols
     * @param context   number of symbols before the predicted symbol
     * @param batchSize samples per step over all ranks
     * @param seed      seed of the random numbers
     * @throws UsageException if the text has fewer than {@code context + batchSize} symbols
     */
    Batches(byte[] text, int context, int batchSize, long seed) {
        if (text.length - context < batchSize) {
            throw new UsageException("the text has " + text.length + " characters, need at least "
                    + ((long) context + batchSize) + " (a context of " + context + " and a batch of " + batchSize
                    + " samples): choose a longer text with --text, or a smaller --batch");
        }
        this.text = text;
        this.context = context;
        this.batchSize = batchSize;
        this.seed = seed;
    }

    /**
     * Checks that every rank has at least one sample.
     *
     * @param batchSize samples per step
     * @param worldSize number of ranks
     * @throws UsageException if there are more ranks than samples
     */
    static void checkRanks(int batchSize, int worldSize) {
        if (worldSize > batchSize) {
            throw new UsageException("--batch " + batchSize + ": fewer samples than ranks, need at least " + worldSize
                    + " for " + worldSize + " ranks: raise --batch or start fewer ranks");
        }
    }

    int batchSize() {
        return batchSize;
    }

    /** Returns the largest number of samples that a rank takes. */
    int largestShare(int worldSize) {
        return (batchSize + worldSize - 1) / worldSize;
    }

    /**
     * Returns one rank's samples of a step.
     *
     * @param step      number from 0
     * @param rank      rank whose part is returned
     * @param worldSize number of parts
     * @return index of the start of each window in the text
     */
    int[] share(int step, int rank, int worldSize) {
        int from = (int) ((long) batchSize * rank / worldSize);
        int to = (int) ((long) batchSize * (rank + 1) / worldSize);
        SplittableRandom random = new SplittableRandom(seed * 1_000_003 + step);
        int[] starts = new int[to - from];
        for (int sample = 0; sample < to; sample++) {
            int start = random.nextInt(text.length - context);
            if (sample >= from) {
                starts[sample - from] = start;
            }
        }
        return starts;
    }

    byte[] text() {
        return text;
    }
}

package ferro.examples.textmodel;

import java.util.SplittableRandom;

/**
 * The batches of a training. A batch consists of windows of the text, which random numbers of the seed select. Every rank
 * draws the full batch and takes its own part, so no window numbers are sent. Parts differ by at most one sample.
 */
record Batches(byte[] text, int context, int batchSize, long seed) {
    /** Cuts the text into batches of the demo, and checks that there is enough of it for every rank. */
    static Batches of(Options options, TrainingText source, int worldSize) {
        Batches batches =
                new Batches(source.symbols(), CharModel.CONTEXT, options.number("--batch"), options.number("--seed"));
        Options.require(
                worldSize <= batches.batchSize,
                "--batch " + batches.batchSize + ": fewer samples than ranks, need at least " + worldSize + " for "
                        + worldSize + " ranks: raise --batch or start fewer ranks");
        Options.require(
                batches.text.length - CharModel.CONTEXT >= batches.batchSize,
                "the text has " + batches.text.length + " characters, need at least "
                        + ((long) CharModel.CONTEXT + batches.batchSize) + " (a context of " + CharModel.CONTEXT
                        + " and a batch of " + batches.batchSize
                        + " samples): choose a longer text with --text, or a smaller --batch");
        return batches;
    }

    /** Returns one part of a step's batch: the index of the start of each window in the text. */
    int[] share(int step, int part, int parts) {
        int from = (int) ((long) batchSize * part / parts);
        int to = (int) ((long) batchSize * (part + 1) / parts);
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
}

package ferro.examples.textmodel;

import ferro.examples.textmodel.Trainer.TrainingStep;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * How fast ranks train together, and one of them alone on the same batches.
 *
 * @param ranks number of ranks that train together
 * @param together characters per second of all ranks
 * @param alone characters per second of one rank while the others wait
 * @param cores number of cores of this host that the job may use
 */
record TrainingSpeed(int ranks, double together, double alone, int cores) {
    private static final double FASTER = 1.05;

    /**
     * Returns the characters per second of a usual step. The first half of the steps does not count, because the just-in-time
     * compiler is at work; a median ignores the steps that something else delays.
     */
    static double of(List<TrainingStep> steps, int batchSize) {
        int from = steps.size() / 2;
        double[] nanos = new double[steps.size() - from];
        for (int i = from; i < steps.size(); i++) {
            nanos[i - from] =
                    steps.get(i).endNanos() - (i == 0 ? 0 : steps.get(i - 1).endNanos());
        }
        Arrays.sort(nanos);
        return batchSize * 1e9 / nanos[nanos.length / 2];
    }

    /** Returns the answer to the question of the demo. */
    String answer() {
        double times = together / alone;
        return String.format(
                Locale.ROOT,
                "are %d ranks faster than one? %s, %.1f times as fast on %d core%s: %,.0f characters/s beside %,.0f of one"
                        + " rank (median step after warm-up)",
                ranks,
                times >= FASTER ? "yes" : "no",
                times,
                cores,
                cores == 1 ? "" : "s",
                together,
                alone);
    }
}

package ferro.collectives.reduce;

/**
 * A comparison of a fast kernel with a plain kernel on parts of real calls.
 *
 * <p>A loop of the Vector API that is not compiled yet is a hundred times slower than a plain loop. Some JDKs sometimes
 * compile a loop of the Vector API badly, and on some machines such a loop is never faster. The fast kernel is
 * therefore used only while its samples are faster. The fast kernel is sampled again from time to time.
 */
final class KernelTrial {
    /**
     * Number of samples of each kernel before the kernels are compared. The fastest sample of each kernel counts, so
     * that a pause does not affect the result.
     */
    private static final int SAMPLES = 16;
    /**
     * Number of comparisons in a row that the fast kernel loses before the trial is decided. After the decision,
     * samples are as rare as after a comparison that the fast kernel won.
     */
    private static final int MAX_TRIES = 4_000;
    /**
     * Share of samples while a trial is undecided. One in {@code SHARE} elements is part of a sample. A call of few
     * elements is a sample as a whole, so only one in {@code SHARE} short calls is a sample.
     */
    static final int SHARE = 32;
    /** Number of calls from one sample to the next after the trial is decided. */
    private static final int RARELY = 1_024;

    private boolean won;
    private int callsToGo;
    private boolean fastsTurn;
    private int samples;
    private int losses;
    private double fastest = Double.MAX_VALUE;
    private double fastestPlain = Double.MAX_VALUE;

    /** Returns whether a part of this call is a sample. */
    boolean due() {
        return --callsToGo < 0;
    }

    /** Returns whether the fast kernel is used. */
    boolean won() {
        return won;
    }

    /** Returns whether samples are still frequent. */
    boolean undecided() {
        return !won && losses < MAX_TRIES;
    }

    /** Returns whether the next sample is for the fast kernel, not for the plain kernel. */
    boolean fastsTurn() {
        return fastsTurn;
    }

    /** Records the duration of a sample. */
    void took(long nanos, long elements) {
        double each = (double) nanos / elements;
        if (fastsTurn) {
            fastest = Math.min(fastest, each);
        } else {
            fastestPlain = Math.min(fastestPlain, each);
        }
        fastsTurn = !fastsTurn;
        if (++samples == 2 * SAMPLES) {
            compare();
        }
        callsToGo = undecided() ? 0 : RARELY;
    }

    /**
     * Records how many of the elements of a call were part of samples. If more elements were sampled, more of the next
     * calls have no samples.
     */
    void sampled(long elements, long count) {
        if (undecided()) {
            callsToGo = (int) Math.max(0, SHARE * elements / count - 1);
        }
    }

    private void compare() {
        won = fastest < fastestPlain;
        losses = won ? 0 : losses + 1;
        samples = 0;
        fastest = Double.MAX_VALUE;
        fastestPlain = Double.MAX_VALUE;
    }
}

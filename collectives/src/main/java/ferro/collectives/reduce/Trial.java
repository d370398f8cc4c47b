package ferro.collectives.reduce;

/**
 * Compares a fast kernel with a plain one on parts of real calls.
 *
 * <p>A loop of the Vector API is a hundred times slower than a plain one until it is compiled, some JDKs compile it badly now
 * and then, and on some machines it never pays. So it serves while it is the faster one, and is looked at again now and then.
 */
final class Trial {
    /** Samples of each before they are compared; the fastest counts, so that a pause decides nothing. */
    private static final int SAMPLES = 16;
    /** Comparisons lost in a row after which it is sampled as rarely as after one that was won. */
    private static final int PATIENCE = 4_000;
    /** Calls from one sample to the next once that is settled. */
    private static final int RARELY = 1_024;

    private boolean won;
    private int callsToGo;
    private boolean fastsTurn;
    private int samples;
    private int losses;
    private double fastest = Double.MAX_VALUE;
    private double fastestPlain = Double.MAX_VALUE;

    /** Returns whether a part of this call is to be a sample. */
    boolean due() {
        return --callsToGo < 0;
    }

    /** Returns whether the fast kernel serves. */
    boolean won() {
        return won;
    }

    /** Returns whether each call is still looked at. */
    boolean undecided() {
        return !won && losses < PATIENCE;
    }

    /** Returns whether the next sample is the fast kernel's, else the plain one's. */
    boolean fastsTurn() {
        return fastsTurn;
    }

    /** Notes how long that sample took. */
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

    private void compare() {
        won = fastest < fastestPlain;
        losses = won ? 0 : losses + 1;
        samples = 0;
        fastest = Double.MAX_VALUE;
        fastestPlain = Double.MAX_VALUE;
    }
}

package ferro.examples.textmodel;

/**
 * The Adam optimiser (Kingma and Ba 2015, arXiv:1412.6980), with a rate that falls linearly to a tenth.
 *
 * <p>It uses only additions, multiplications, divisions and square roots, which Java rounds the same everywhere. So ranks
 * with the same gradients keep the same bits.
 */
final class Adam {
    private static final double KEEP_MEAN = 0.9;
    private static final double KEEP_SQUARE = 0.999;
    private static final float TINY = 1e-8f;

    private final double rate;
    private final int steps;
    private final float[] mean;
    private final float[] square;
    private double meanLeft = 1;
    private double squareLeft = 1;
    private int step;

    /**
     * Creates an optimiser at step 0.
     *
     * @param parameterCount parameters
     * @param rate           rate of the first step
     * @param steps          number of steps over which the rate falls
     */
    Adam(int parameterCount, double rate, int steps) {
        this.rate = rate;
        this.steps = steps;
        mean = new float[parameterCount];
        square = new float[parameterCount];
    }

    /**
     * Takes one step.
     *
     * @param parameters changed in place
     * @param gradient   laid out as the parameters; may be longer
     */
    void update(float[] parameters, float[] gradient) {
        meanLeft *= KEEP_MEAN;
        squareLeft *= KEEP_SQUARE;
        double now = rate * Math.max(0.1, 1 - 0.9 * step / steps);
        step++;
        // Both averages start at zero; the correction for this is the same for all parameters.
        float stride = (float) (now * Math.sqrt(1 - squareLeft) / (1 - meanLeft));
        float keepMean = (float) KEEP_MEAN;
        float keepSquare = (float) KEEP_SQUARE;
        for (int i = 0; i < mean.length; i++) {
            float slope = gradient[i];
            float average = keepMean * mean[i] + (1 - keepMean) * slope;
            float size = keepSquare * square[i] + (1 - keepSquare) * slope * slope;
            mean[i] = average;
            square[i] = size;
            parameters[i] -= stride * average / ((float) Math.sqrt(size) + TINY);
        }
    }
}

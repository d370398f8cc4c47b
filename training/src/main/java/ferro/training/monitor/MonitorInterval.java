package ferro.training.monitor;

import java.util.Arrays;

/** The counts of one rank since the last report, as an array of numbers that can be sent. */
final class MonitorInterval {
    private static final int SAMPLES = 0;
    private static final int LOSS = 1;
    private static final int ELAPSED = 2;
    private static final int WAITED = 3;
    private static final int HIDDEN = 4;
    private static final int FIRST_METRIC = 5;

    private final double[] numbers;

    MonitorInterval(int metrics) {
        this(new double[FIRST_METRIC + metrics]);
    }

    private MonitorInterval(double[] numbers) {
        this.numbers = numbers;
    }

    /** Splits the gathered numbers of all ranks, which are in rank order. */
    static MonitorInterval[] ofAll(double[] all, int worldSize) {
        int length = all.length / worldSize;
        MonitorInterval[] ranks = new MonitorInterval[worldSize];
        Arrays.setAll(ranks, rank -> new MonitorInterval(Arrays.copyOfRange(all, rank * length, (rank + 1) * length)));
        return ranks;
    }

    /** Adds means over samples. Without samples, the means are ignored. */
    void addMeans(long samples, double loss, double[] metrics) {
        if (samples > 0) {
            numbers[SAMPLES] += samples;
            numbers[LOSS] += samples * loss;
            for (int i = 0; i < metrics.length; i++) {
                numbers[FIRST_METRIC + i] += samples * metrics[i];
            }
        }
    }

    void addTimes(long waitedNanos, long hiddenNanos) {
        numbers[WAITED] += waitedNanos;
        numbers[HIDDEN] += hiddenNanos;
    }

    /** Sets the elapsed time and returns the numbers to send. */
    double[] ending(long elapsedNanos) {
        numbers[ELAPSED] = elapsedNanos;
        return numbers;
    }

    double samples() {
        return numbers[SAMPLES];
    }

    double lossSum() {
        return numbers[LOSS];
    }

    double metricSum(int metric) {
        return numbers[FIRST_METRIC + metric];
    }

    double elapsedNanos() {
        return numbers[ELAPSED];
    }

    double waitedNanos() {
        return Math.min(numbers[WAITED], numbers[ELAPSED]);
    }

    double hiddenNanos() {
        return Math.min(numbers[HIDDEN], computingNanos());
    }

    double computingNanos() {
        return numbers[ELAPSED] - waitedNanos();
    }
}

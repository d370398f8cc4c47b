package ferro.benchmarks.compare;

import java.util.Arrays;
import java.util.Collection;

/**
 * The median and the extremes of some numbers.
 *
 * @param count  number of numbers
 * @param least  smallest number
 * @param middle median
 * @param most   largest number
 */
record MedianSummary(int count, double least, double middle, double most) {
    /** Returns the medians of a collection that has at least one number. */
    static MedianSummary of(Collection<Double> numbers) {
        double[] sorted =
                numbers.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        if (sorted.length == 0) {
            throw new IllegalArgumentException("no median of 0 numbers: " + Arrays.toString(sorted));
        }
        int half = sorted.length / 2;
        double middle = sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
        return new MedianSummary(sorted.length, sorted[0], middle, sorted[sorted.length - 1]);
    }
}

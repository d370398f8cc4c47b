package ferro.training;

import java.util.Arrays;
import java.util.Objects;

/**
 * Count, mean and variance of the values of each channel, as batch normalization needs them.
 *
 * <p>The variance is stored as the sum of squared deviations from the mean. Means and sums are stored in double. A
 * small variance therefore keeps its precision next to a large mean. A {@code Moments} object is immutable, and any
 * thread may use the object.
 */
public final class Moments {
    private final long count;
    private final double[] means;
    private final double[] deviations;

    private Moments(long count, double[] means, double[] deviations) {
        this.count = count;
        this.means = means;
        this.deviations = deviations;
    }

    /**
     * {@return the moments of an empty set of values, of count 0}
     *
     * @param channels number of channels
     * @throws IllegalArgumentException if {@code channels} is not positive
     */
    public static Moments none(int channels) {
        requireChannels(channels);
        return new Moments(0, new double[channels], new double[channels]);
    }

    /**
     * Computes the moments of values, in two passes over the values.
     *
     * @param values values as {@code [samples][channels][inner]}, in row-major order
     * @param channels number of channels
     * @param inner number of values of one sample in one channel: height times width of an image, or 1 for a vector
     * @return moments whose count is the number of samples times {@code inner}
     * @throws IllegalArgumentException if {@code channels} is not positive, if {@code inner} is not positive, or if the
     *     number of values is not a multiple of {@code channels * inner}
     */
    public static Moments of(float[] values, int channels, int inner) {
        Objects.requireNonNull(values, "values");
        requireChannels(channels);
        if (inner < 1 || values.length % Math.multiplyExact(channels, inner) != 0) {
            throw new IllegalArgumentException("need samples of " + channels + " channels times " + inner
                    + " values, found " + values.length + " values");
        }
        long count = values.length / channels;
        double[] means = new double[channels];
        for (int row = 0; row * inner < values.length; row++) {
            for (int at = row * inner; at < (row + 1) * inner; at++) {
                means[row % channels] += values[at];
            }
        }
        for (int channel = 0; channel < channels && count > 0; channel++) {
            means[channel] /= count;
        }
        double[] deviations = new double[channels];
        for (int row = 0; row * inner < values.length; row++) {
            for (int at = row * inner; at < (row + 1) * inner; at++) {
                double distance = values[at] - means[row % channels];
                deviations[row % channels] += distance * distance;
            }
        }
        return new Moments(count, means, deviations);
    }

    /**
     * Creates moments from means and variances that a framework has computed.
     *
     * @param count number of values per channel
     * @param means mean of each channel
     * @param variances variance of each channel, divided by the count
     * @return moments
     * @throws IllegalArgumentException if the arrays are empty, if the count is negative, or if the lengths differ
     */
    public static Moments of(long count, double[] means, double[] variances) {
        requireChannels(Objects.requireNonNull(means, "means").length);
        if (count < 0 || means.length != Objects.requireNonNull(variances, "variances").length) {
            throw new IllegalArgumentException("need a count of 0 or more and as many variances as means, found count "
                    + count + ", " + variances.length + " variances and " + means.length + " means");
        }
        if (count == 0) {
            return none(means.length);
        }
        return new Moments(
                count,
                means.clone(),
                Arrays.stream(variances).map(variance -> variance * count).toArray());
    }

    private static void requireChannels(int channels) {
        if (channels < 1) {
            throw new IllegalArgumentException("need at least one channel, found " + channels);
        }
    }

    /**
     * {@return the moments of this object's values and the other object's values together}
     *
     * <p>Source: the pairwise update of Chan, Golub and LeVeque 1983, doi:10.1080/00031305.1983.10483115.
     *
     * @param other moments of the same number of channels
     * @throws IllegalArgumentException if the numbers of channels differ
     */
    public Moments with(Moments other) {
        if (Objects.requireNonNull(other, "other").channels() != channels()) {
            throw new IllegalArgumentException(
                    "need moments of " + channels() + " channels, found " + other.channels());
        }
        if (count == 0 || other.count == 0) {
            return count == 0 ? other : this;
        }
        long both = count + other.count;
        double[] means = new double[channels()];
        double[] deviations = new double[channels()];
        for (int channel = 0; channel < means.length; channel++) {
            double distance = other.means[channel] - this.means[channel];
            means[channel] = this.means[channel] + distance * other.count / both;
            deviations[channel] = this.deviations[channel]
                    + other.deviations[channel]
                    + distance * distance * ((double) count * other.count / both);
        }
        return new Moments(both, means, deviations);
    }

    /** Writes the count, the means and the sums of squared deviations: {@code 1 + 2 * channels} numbers. */
    void write(double[] into) {
        into[0] = count;
        System.arraycopy(means, 0, into, 1, means.length);
        System.arraycopy(deviations, 0, into, 1 + means.length, means.length);
    }

    /** Reads moments that {@link #write} has written, beginning at index {@code from}. */
    static Moments read(double[] all, int from, int channels) {
        int to = from + 1 + channels;
        return new Moments(
                (long) all[from], Arrays.copyOfRange(all, from + 1, to), Arrays.copyOfRange(all, to, to + channels));
    }

    /** {@return the number of channels, 1 or more} */
    public int channels() {
        return means.length;
    }

    /** {@return the number of values in each channel, 0 or more} */
    public long count() {
        return count;
    }

    /**
     * Returns the mean of a channel.
     *
     * @param channel index of the channel, from 0
     * @return mean; 0 without values
     * @throws IndexOutOfBoundsException if no channel has this index
     */
    public double mean(int channel) {
        return means[channel];
    }

    /**
     * Returns the variance of a channel, divided by the count. Batch normalization divides the batch by the square root
     * of this variance.
     *
     * @param channel index of the channel, from 0
     * @return variance; 0 without values
     * @throws IndexOutOfBoundsException if no channel has this index
     */
    public double variance(int channel) {
        return deviations[channel] / Math.max(1, count);
    }

    /**
     * Returns the unbiased variance of a channel, divided by the count minus 1. Running averages for inference use the
     * unbiased variance.
     *
     * @param channel index of the channel, from 0
     * @return variance; 0 for at most one value
     * @throws IndexOutOfBoundsException if no channel has this index
     */
    public double unbiasedVariance(int channel) {
        return deviations[channel] / Math.max(1, count - 1);
    }

    @Override
    public String toString() {
        return count + " values in each of " + channels() + " channels";
    }
}

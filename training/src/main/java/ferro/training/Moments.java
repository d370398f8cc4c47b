package ferro.training;

import java.util.Arrays;
import java.util.Objects;

/**
 * Count, mean and variance of the values of each channel, as batch normalization needs them.
 *
 * <p>Kept are the mean and the sum of squared deviations from it, in double, so that large means do not cancel out small
 * variances. Immutable; any thread may use it.
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
     * Returns those of no values.
     *
     * @param channels number of channels
     * @return moments of count 0
     * @throws IllegalArgumentException if there is no channel
     */
    public static Moments none(int channels) {
        requireChannels(channels);
        return new Moments(0, new double[channels], new double[channels]);
    }

    /**
     * Computes those of values, in two passes.
     *
     * @param values   as {@code [samples][channels][inner]}, one row behind the other
     * @param channels number of channels
     * @param inner    number of values that a sample has in one channel, such as height times width of an image; 1 for a vector
     * @return moments; count is samples times {@code inner}
     * @throws IllegalArgumentException if there is no channel, or the values are not whole samples
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
     * Takes over what a framework has computed.
     *
     * @param count     number of values per channel
     * @param means     mean of each channel
     * @param variances variance of each channel, divided by the count
     * @return moments
     * @throws IllegalArgumentException if there is no channel, the count is negative or the lengths differ
     */
    public static Moments of(long count, double[] means, double[] variances) {
        requireChannels(Objects.requireNonNull(means, "means").length);
        if (count < 0 || means.length != Objects.requireNonNull(variances, "variances").length) {
            throw new IllegalArgumentException("need a count from 0 on and as many variances as means, found count "
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
     * Returns those of the values of both.
     *
     * <p>Source: the pairwise update of Chan, Golub and LeVeque 1983, doi:10.1080/00031305.1983.10483115.
     *
     * @param other of the same channels
     * @return moments of all values
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

    /** Writes count, means and deviations: {@code 1 + 2 * channels} numbers. */
    void write(double[] into) {
        into[0] = count;
        System.arraycopy(means, 0, into, 1, means.length);
        System.arraycopy(deviations, 0, into, 1 + means.length, means.length);
    }

    /** Reads what {@link #write} has written, from a place on. */
    static Moments read(double[] all, int from, int channels) {
        int to = from + 1 + channels;
        return new Moments(
                (long) all[from], Arrays.copyOfRange(all, from + 1, to), Arrays.copyOfRange(all, to, to + channels));
    }

    /**
     * Returns the number of channels.
     *
     * @return at least 1
     */
    public int channels() {
        return means.length;
    }

    /**
     * Returns the number of values in each channel.
     *
     * @return 0 or more
     */
    public long count() {
        return count;
    }

    /**
     * Returns the mean of a channel.
     *
     * @param channel from 0
     * @return mean; 0 of no values
     * @throws IndexOutOfBoundsException if there is no such channel
     */
    public double mean(int channel) {
        return means[channel];
    }

    /**
     * Returns the variance of a channel, divided by the count: batch normalization divides the batch by its root.
     *
     * @param channel from 0
     * @return variance; 0 of no values
     * @throws IndexOutOfBoundsException if there is no such channel
     */
    public double variance(int channel) {
        return deviations[channel] / Math.max(1, count);
    }

    /**
     * Returns the variance of a channel, divided by the count less one: what running averages for inference take.
     *
     * @param channel from 0
     * @return variance; 0 of one value or none
     * @throws IndexOutOfBoundsException if there is no such channel
     */
    public double unbiasedVariance(int channel) {
        return deviations[channel] / Math.max(1, count - 1);
    }

    @Override
    public String toString() {
        return count + " values in each of " + channels() + " channels";
    }
}

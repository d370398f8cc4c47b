package ferro.benchmarks.model;

import java.util.Locale;

/**
 * The cost of moving and summing, for tensors of one size: the alpha, beta and gamma of Thakur, Rabenseifner and Gropp 2005,
 * doi:10.1177/1094342005051521. Beta is two numbers, because on loopback both ends of a connection use time of their cores:
 * one way is limited by the link, both ways at once by the cores.
 *
 * @param latencyMicros  from the end of a send to the time when it can be received
 * @param linkPerByte    microseconds of a link's direction for a byte
 * @param corePerByte    microseconds of a core for a byte, at each end
 * @param combinePerByte microseconds of a core for a byte that is added to another, or copied
 */
public record Rates(double latencyMicros, double linkPerByte, double corePerByte, double combinePerByte) {
    private static final int KIB = 1024;

    /**
     * Computes rates from times of messages of one size.
     *
     * @param latencyMicros  time of a small message each way
     * @param bytes          size of the messages timed
     * @param oneWayMicros   time of one such message, one way
     * @param exchangeMicros time of one such message each way, at once
     * @param combineMicros  time of summing as many bytes
     * @return rates
     */
    public static Rates of(
            double latencyMicros, long bytes, double oneWayMicros, double exchangeMicros, double combineMicros) {
        double both = Math.max(0, exchangeMicros - latencyMicros) / bytes;
        double oneWay = Math.max(0, oneWayMicros - latencyMicros) / bytes;
        return new Rates(latencyMicros, Math.min(both, oneWay), both / 2, combineMicros / bytes);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "latency %.2f us, link %.3f, core %.3f, combine %.3f us per KiB",
                latencyMicros,
                linkPerByte * KIB,
                corePerByte * KIB,
                combinePerByte * KIB);
    }
}

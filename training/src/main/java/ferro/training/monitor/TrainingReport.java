package ferro.training.monitor;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What all ranks did since the report before. It is the same on all ranks, but for {@code elapsed}.
 *
 * @param step             number of steps that have ended, from the beginning of the training
 * @param elapsed          time since this rank's monitor was made
 * @param samples          samples of all ranks since the report before
 * @param samplesPerSecond their number per second of the rank that took longest
 * @param loss             mean over these samples; NaN without samples
 * @param smoothedLoss     moving average of the losses of all reports so far; NaN until there is one
 * @param time             what the ranks spent the time on
 * @param slowest          which rank the others wait for
 * @param metrics          mean over these samples by name, in the order of the names
 */
public record TrainingReport(
        long step,
        Duration elapsed,
        long samples,
        double samplesPerSecond,
        double loss,
        double smoothedLoss,
        TimeShares time,
        SlowestRank slowest,
        Map<String, Double> metrics) {
    /**
     * Copies the metrics.
     *
     * @param step             number of steps that have ended
     * @param elapsed          time since this rank's monitor was made
     * @param samples          samples of all ranks
     * @param samplesPerSecond their number per second
     * @param loss             mean over these samples
     * @param smoothedLoss     moving average of the losses
     * @param time             what the ranks spent the time on
     * @param slowest          which rank the others wait for
     * @param metrics          mean over these samples by name
     */
    public TrainingReport {
        Objects.requireNonNull(elapsed, "elapsed");
        Objects.requireNonNull(time, "time");
        Objects.requireNonNull(slowest, "slowest");
        metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
    }

    /**
     * Shares of the time of all ranks together, from 0 to 1.
     *
     * @param computing time in which ranks did not wait for communication: 1 less {@code waiting}
     * @param hidden    time in which data was under way while ranks computed; part of {@code computing}
     * @param waiting   time in which ranks did nothing but wait: communication that is not hidden
     */
    public record TimeShares(double computing, double hidden, double waiting) {}

    /**
     * The rank that computes longest, so that the others wait for it.
     *
     * @param rank the rank
     * @param more how much longer it computes than the other ranks with samples do on average: 0.1 is 10 % longer; 0 if there is
     *     no other
     */
    public record SlowestRank(int rank, double more) {}
}

package ferro.training.monitor;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Report on the work of all ranks since the last report. All values except {@code elapsed} are the same on all ranks.
 *
 * @param step number of steps that have ended since the beginning of the training
 * @param elapsed time since this rank's monitor was created
 * @param samples samples of all ranks since the last report
 * @param samplesPerSecond samples of all ranks divided by the time of the rank that took longest
 * @param loss mean loss over the samples of all ranks; NaN without samples
 * @param smoothedLoss moving average of the losses of all reports so far; NaN until there is a loss
 * @param time shares of the ranks' time
 * @param slowest the rank for which the other ranks wait
 * @param metrics mean of each metric over the samples of all ranks, by name, in the order of the names
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
     * @param step number of steps that have ended
     * @param elapsed time since this rank's monitor was created
     * @param samples samples of all ranks
     * @param samplesPerSecond samples per second
     * @param loss mean loss over the samples of all ranks
     * @param smoothedLoss moving average of the losses
     * @param time shares of the ranks' time
     * @param slowest the rank for which the other ranks wait
     * @param metrics mean of each metric over the samples of all ranks, by name
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
     * @param computing time in which ranks did not wait for communication: 1 minus {@code waiting}
     * @param hidden time in which data was in flight while ranks computed; part of {@code computing}
     * @param waiting time in which ranks only waited: communication that is not hidden
     */
    public record TimeShares(double computing, double hidden, double waiting) {}

    /**
     * The rank that computes longest, for which the other ranks wait.
     *
     * @param rank the rank
     * @param more how much longer this rank computes than the other ranks with samples on average: 0.1 is 10 % longer;
     *     0 if there is no other rank
     */
    public record SlowestRank(int rank, double more) {}
}

package ferro.training.monitor;

import ferro.training.monitor.TrainingReport.SlowestRank;
import ferro.training.monitor.TrainingReport.TimeShares;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Creates reports from the numbers of all ranks. All ranks have the same numbers and therefore create the same report.
 */
final class ReportMaker {
    /** Weight of the previous smoothed loss. The new loss has the remaining weight. */
    private static final double KEPT = 0.9;

    private static final double NANOS_PER_SECOND = 1e9;

    private final List<String> metrics;
    private double smoothed;
    /**
     * Sum of the weights of all losses in {@link #smoothed}. The sum is less than 1, because the smoothed loss begins
     * at 0 and not at a loss.
     */
    private double weight;

    ReportMaker(List<String> metrics) {
        this.metrics = metrics;
    }

    TrainingReport make(long step, Duration elapsed, MonitorInterval[] ranks) {
        double samples = sum(ranks, MonitorInterval::samples);
        double loss = sum(ranks, MonitorInterval::lossSum) / samples;
        Map<String, Double> means = new LinkedHashMap<>();
        for (int i = 0; i < metrics.size(); i++) {
            int metric = i;
            means.put(metrics.get(i), sum(ranks, rank -> rank.metricSum(metric)) / samples);
        }
        double longest = Arrays.stream(ranks)
                .mapToDouble(MonitorInterval::elapsedNanos)
                .max()
                .orElse(0);
        double perSecond = longest > 0 ? samples * NANOS_PER_SECOND / longest : 0;
        return new TrainingReport(
                step, elapsed, (long) samples, perSecond, loss, smoothed(loss), shares(ranks), slowest(ranks), means);
    }

    /**
     * Returns the smoothed loss. A loss that is NaN or infinite is not smoothed, because all later smoothed losses
     * would be NaN or infinite, too.
     */
    private double smoothed(double loss) {
        if (Double.isFinite(loss)) {
            smoothed = KEPT * smoothed + (1 - KEPT) * loss;
            weight = KEPT * weight + (1 - KEPT);
        }
        return smoothed / weight;
    }

    private static TimeShares shares(MonitorInterval[] ranks) {
        double total = Math.max(1, sum(ranks, MonitorInterval::elapsedNanos));
        double waiting = sum(ranks, MonitorInterval::waitedNanos) / total;
        return new TimeShares(1 - waiting, sum(ranks, MonitorInterval::hiddenNanos) / total, waiting);
    }

    /** Returns the rank that computes longest. A rank without samples delays no other rank, so it is not counted. */
    private static SlowestRank slowest(MonitorInterval[] ranks) {
        int slowest = 0;
        double longest = 0;
        double all = 0;
        int computing = 0;
        for (int rank = 0; rank < ranks.length; rank++) {
            double own = ranks[rank].samples() > 0 ? ranks[rank].computingNanos() : 0;
            if (own > longest) {
                slowest = rank;
                longest = own;
            }
            all += own;
            computing += ranks[rank].samples() > 0 ? 1 : 0;
        }
        double others = all - longest;
        return new SlowestRank(slowest, others > 0 ? longest * (computing - 1) / others - 1 : 0);
    }

    private static double sum(MonitorInterval[] ranks, ToDoubleFunction<MonitorInterval> number) {
        return Arrays.stream(ranks).mapToDouble(number).sum();
    }
}

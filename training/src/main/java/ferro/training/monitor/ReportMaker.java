package ferro.training.monitor;

import ferro.training.monitor.TrainingReport.SlowestRank;
import ferro.training.monitor.TrainingReport.TimeShares;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Makes reports of what all ranks have counted: the same numbers on all ranks, so the same report. */
final class ReportMaker {
    /** Weight of what is smoothed already against one more loss. */
    private static final double KEPT = 0.9;

    private static final double NANOS_PER_SECOND = 1e9;

    private final List<String> metrics;
    private double smoothed;
    /** The weights of all losses in {@link #smoothed}, which begins at 0 and not at a loss. */
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

    /** A loss that is no number is shown and not smoothed, or no later one would ever be a number. */
    private double smoothed(double loss) {
        if (Double.isFinite(loss)) {
            smoothed = KEPT * smoothed + (1 - KEPT) * loss;
            weight = KEPT * weight + (1 - KEPT);
        }
        return smoothed / weight;
    }

    private static TimeShares shares(MonitorInterval[] ranks) {
        double whole = Math.max(1, sum(ranks, MonitorInterval::elapsedNanos));
        double waiting = sum(ranks, MonitorInterval::waitedNanos) / whole;
        return new TimeShares(1 - waiting, sum(ranks, MonitorInterval::hiddenNanos) / whole, waiting);
    }

    /** A rank that has no samples keeps nobody waiting, and is none of the others either. */
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

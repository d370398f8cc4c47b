package ferro.training.monitor;

import ferro.group.ProcessGroup;
import ferro.training.StepTimes;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Reports on a training: loss, speed, the shares of the ranks' time, and the rank for which the other ranks wait.
 *
 * <p>Every rank calls {@link #step} once per step. After a fixed number of steps all ranks exchange their numbers with
 * one all-gather of a few dozen bytes per rank. All ranks then get the same {@link TrainingReport}, which rank 0 prints
 * and writes. The monitor communicates nothing else.
 *
 * <p>One thread at a time may use a monitor. A monitor reads no environment variables: {@link TrainingMonitorBuilder}
 * sets where reports go.
 */
public final class TrainingMonitor {
    private final ProcessGroup group;
    private final int reportEvery;
    private final List<String> metrics;
    private final LongSupplier clock;
    private final List<Consumer<TrainingReport>> listeners;
    private final ReportMaker maker;
    private final long madeNanos;
    private MonitorInterval interval;
    private long begunNanos;
    private long lastStepNanos;
    private long steps;
    private long reportedSteps;

    TrainingMonitor(TrainingMonitorBuilder settings, ProcessGroup group, List<Consumer<TrainingReport>> listeners) {
        this.group = group;
        this.reportEvery = settings.reportEvery();
        this.metrics = settings.metrics();
        this.clock = settings.clock();
        this.listeners = listeners;
        maker = new ReportMaker(metrics);
        interval = new MonitorInterval(metrics.size());
        steps = settings.stepsBefore();
        reportedSteps = steps;
        madeNanos = clock.getAsLong();
        begunNanos = madeNanos;
        lastStepNanos = madeNanos;
    }

    /**
     * Returns a builder for a monitor.
     *
     * @param group ranks that train together
     * @return builder
     */
    public static TrainingMonitorBuilder builder(ProcessGroup group) {
        return new TrainingMonitorBuilder(Objects.requireNonNull(group, "group"));
    }

    /**
     * Counts a step of this rank, with the times that {@code GradientBuckets.finish()} or
     * {@code ShardedOptimizer.step()} has returned. In each step that ends with a report, this call is a collective of
     * the group.
     *
     * @param samples number of samples of this rank
     * @param loss mean loss over the samples of this rank
     * @param times time in which the step waited for communication, and time in which communication was hidden
     * @param values mean of each metric over the samples of this rank, in the order of the metrics' names
     * @throws IllegalArgumentException if the number of samples or a time is negative, or if the number of values is
     *     not the number of metrics
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if ranks make other calls instead
     */
    public void step(long samples, double loss, StepTimes times, double... values) {
        step(samples, loss, times.waited(), times.hidden(), values);
    }

    /**
     * Counts a step of this rank. In each step that ends with a report, this call is a collective of the group.
     *
     * @param samples number of samples of this rank
     * @param loss mean loss over the samples of this rank
     * @param waited time of the step in which this rank only waited for communication
     * @param hidden time of the step in which data was in flight while this rank computed
     * @param values mean of each metric over the samples of this rank, in the order of the metrics' names
     * @throws IllegalArgumentException if the number of samples or a time is negative, or if the number of values is
     *     not the number of metrics
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if ranks make other calls instead
     */
    public void step(long samples, double loss, Duration waited, Duration hidden, double... values) {
        if (samples < 0 || waited.isNegative() || hidden.isNegative() || values.length != metrics.size()) {
            throw new IllegalArgumentException(
                    "need samples and times of 0 or more and one value for each of " + metrics
                            + ", found " + samples + " samples, " + waited + " waited, " + hidden + " hidden and "
                            + values.length + " values");
        }
        interval.addMeans(samples, loss, values);
        interval.addTimes(waited.toNanos(), hidden.toNanos());
        endStep(clock.getAsLong());
    }

    private void endStep(long nanos) {
        lastStepNanos = nanos;
        steps++;
        if (steps % reportEvery == 0) {
            report(nanos);
        }
    }

    /**
     * Counts a step in which this rank had no samples. A rank that has run out of samples calls this method while other
     * ranks still train. All time since the last step counts as waiting.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if ranks make other calls instead
     */
    public void takePartWithoutData() {
        long nanos = clock.getAsLong();
        interval.addTimes(nanos - lastStepNanos, 0);
        endStep(nanos);
    }

    /**
     * Reports the steps since the last report, if there are any, and ends the bar's line on the terminal. Every rank
     * calls this method at the end of the training. More steps may follow this call.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if ranks make other calls instead
     */
    public void finish() {
        if (steps > reportedSteps) {
            report(clock.getAsLong());
        }
        for (Consumer<TrainingReport> listener : listeners) {
            if (listener instanceof ReportPrinter printer) {
                printer.finish();
            }
        }
    }

    private void report(long begun) {
        double[] own = interval.ending(begun - begunNanos);
        double[] all = new double[own.length * group.worldSize()];
        group.allGather(own, all);
        long ended = clock.getAsLong();
        // the next interval includes this exchange, in which a rank waits for slower ranks
        interval = new MonitorInterval(metrics.size());
        interval.addTimes(ended - begun, 0);
        begunNanos = begun;
        lastStepNanos = ended;
        reportedSteps = steps;
        Duration elapsed = Duration.ofNanos(ended - madeNanos);
        TrainingReport report = maker.make(steps, elapsed, MonitorInterval.ofAll(all, group.worldSize()));
        listeners.forEach(listener -> listener.accept(report));
    }
}

package ferro.examples.monitor;

import ferro.group.ProcessGroup;
import ferro.training.StepTimes;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * A monitor of a training. After a fixed number of steps, rank 0 prints the loss, the speed, the shares of the ranks' time, and
 * the rank for which the other ranks wait. All ranks exchange their numbers with one all-gather of 40 bytes per rank.
 */
public final class TrainingMonitor {
    private static final int SAMPLES = 0;
    private static final int LOSS = 1;
    private static final int WAITED = 2;
    private static final int HIDDEN = 3;
    private static final int ELAPSED = 4;
    private static final int COUNT = 5;

    private final ProcessGroup group;
    private final int reportEvery;
    private final PrintStream out;
    private final LongSupplier clock;
    private final double[] own = new double[COUNT];
    private long begunNanos;
    private long steps;

    /**
     * Creates the monitor of a rank. All ranks report after the same steps.
     *
     * @param group ranks that train together
     * @param reportEvery number of steps between two reports
     * @param out stream for the reports of rank 0
     */
    public TrainingMonitor(ProcessGroup group, int reportEvery, PrintStream out) {
        this(group, reportEvery, out, System::nanoTime);
    }

    TrainingMonitor(ProcessGroup group, int reportEvery, PrintStream out, LongSupplier clock) {
        this.group = group;
        this.reportEvery = reportEvery;
        this.out = out;
        this.clock = clock;
        begunNanos = clock.getAsLong();
    }

    /**
     * Counts a step of this rank. In each step that ends with a report, this call is a collective of the group.
     *
     * @param samples number of samples of this rank
     * @param loss mean loss over the samples of this rank
     * @param times times that {@code GradientBuckets.finish()} or {@code ShardedOptimizer.step()} has returned
     */
    public void step(long samples, double loss, StepTimes times) {
        own[SAMPLES] += samples;
        own[LOSS] += samples * loss;
        own[WAITED] += times.waited().toNanos();
        own[HIDDEN] += times.hidden().toNanos();
        steps++;
        if (steps % reportEvery == 0) {
            report();
        }
    }

    private void report() {
        long now = clock.getAsLong();
        own[ELAPSED] = now - begunNanos;
        double[] all = new double[COUNT * group.worldSize()];
        group.allGather(own, all);
        if (group.rank() == 0) {
            out.println(line(all));
        }
        Arrays.fill(own, 0);
        // the next interval includes this exchange, in which a rank waits for slower ranks
        own[WAITED] = clock.getAsLong() - now;
        begunNanos = now;
    }

    private String line(double[] all) {
        double[] sums = new double[COUNT];
        double longest = 0;
        int slowest = 0;
        for (int rank = 0; rank < group.worldSize(); rank++) {
            for (int number = 0; number < COUNT; number++) {
                sums[number] += all[rank * COUNT + number];
            }
            longest = Math.max(longest, all[rank * COUNT + ELAPSED]);
            slowest = computing(all, rank) > computing(all, slowest) ? rank : slowest;
        }
        return String.format(
                Locale.ROOT,
                "step %,d  loss %.4f  %,.0f samples/s  computing %.0f %%, communicating %.0f %% hidden, %.0f %% not hidden"
                        + "  slowest rank %d",
                steps,
                sums[LOSS] / sums[SAMPLES],
                sums[SAMPLES] * 1e9 / longest,
                100 * (1 - sums[WAITED] / sums[ELAPSED]),
                100 * sums[HIDDEN] / sums[ELAPSED],
                100 * sums[WAITED] / sums[ELAPSED],
                slowest);
    }

    private static double computing(double[] all, int rank) {
        return all[rank * COUNT + ELAPSED] - all[rank * COUNT + WAITED];
    }
}

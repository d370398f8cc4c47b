package ferro.benchmarks;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/** The program of one rank of {@code ferro bench}. Only rank 0 prints. */
public final class CollectiveBench {
    private static final int WRONG = 1;
    private static final int BAD_INPUT = 2;

    private final ProcessGroup group;
    private final ResultRow.SweepSetting setting;
    private final MeasuredMemory place;
    private final Sweep sweep;
    private final Stopwatch stopwatch;
    private final PrintStream out;

    CollectiveBench(
            ProcessGroup group,
            ResultRow.SweepSetting setting,
            MeasuredMemory place,
            Stopwatch stopwatch,
            PrintStream out) {
        this.group = group;
        this.setting = setting;
        this.place = place;
        this.sweep = setting.sweep();
        this.stopwatch = stopwatch;
        this.out = out;
    }

    /**
     * Joins the group that the environment describes, and measures a sweep of collectives. Exits with 1 if a result was
     * wrong, or with 2 if the arguments are invalid.
     *
     * @param words options of the sweep and their values, as {@link Sweep#parse} reads them
     * @throws IOException if the wire probe fails
     */
    public static void main(String[] words) throws IOException {
        SystemContext context = SystemContext.ofProcess();
        exitIfWrong("the result of a plain loop", group -> {
            Sweep sweep = Sweep.parse(List.of(words));
            sweep.checkRanks(group.worldSize());
            return run(group, context, sweep);
        });
    }

    @FunctionalInterface
    interface MeasurementTask {
        /** Returns how many elements were wrong over all ranks. */
        long run(ProcessGroup group) throws IOException;
    }

    /** Joins the group that the environment describes and runs a measurement. Exits with the codes of {@link #main}. */
    static void exitIfWrong(String expected, MeasurementTask measured) throws IOException {
        long wrong;
        try (ProcessGroup group = ProcessGroup.join()) {
            wrong = measured.run(group);
        } catch (IllegalArgumentException misuse) {
            System.err.println("ferro bench: " + misuse.getMessage());
            System.exit(BAD_INPUT);
            return;
        }
        if (wrong > 0) {
            System.err.println("ferro bench: " + wrong + " elements differ from " + expected);
            System.exit(WRONG);
        }
    }

    private static long run(ProcessGroup group, SystemContext context, Sweep sweep) throws IOException {
        try (MeasuredMemory place = MeasuredMemory.of(group, context, sweep)) {
            ResultRow.SweepSetting setting =
                    ResultRow.SweepSetting.of(sweep, Settings.BACKEND.of(context), group, place.label());
            Stopwatch stopwatch = new Stopwatch(group, Stopwatch.PhaseDurations.measuring(sweep.time()));
            CollectiveBench bench = new CollectiveBench(group, setting, place, stopwatch, System.out);
            BackgroundLoadDetector.CpuTimeReading before = BackgroundLoadDetector.CpuTimeReading.now();
            long wrong = bench.run();
            bench.explain(BackgroundLoadDetector.of(context, group.worldSize()), before);
            return wrong;
        }
    }

    /** Prints, below the table, what its columns are, and what makes times longer than on an idle machine. */
    private void explain(BackgroundLoadDetector use, BackgroundLoadDetector.CpuTimeReading before) throws IOException {
        BackgroundLoadDetector.CpuTimeReading after = BackgroundLoadDetector.CpuTimeReading.now();
        double[] used = {after.ranksNanos() - before.ranksNanos()};
        group.allReduce(used, ReduceOp.SUM);
        if (!sweep.json()) {
            ResultRow.legend(setting).forEach(this::print);
            use.warnings(before, after.ofRanks(before.ranksNanos() + used[0])).forEach(this::print);
        }
    }

    /** Measures all sizes on every rank at once. Returns how many elements were wrong over all ranks and sizes. */
    long run() throws IOException {
        print(sweep.json() ? "" : ResultRow.head(setting));
        long wrong = 0;
        try (WireProbe probe = WireProbe.open(group, System.err)) {
            probe.warmUp();
            for (long size : sweep.sizes()) {
                ResultRow row = measure(size, probe);
                print(sweep.json() ? row.json() : row.table());
                wrong += row.wrong();
            }
        }
        return wrong;
    }

    private ResultRow measure(long size, WireProbe probe) throws IOException {
        try (MeasuredBatch batch = new MeasuredBatch(group, place, sweep, size)) {
            long[] wrong = {batch.wrongElements()};
            group.allReduce(wrong, ReduceOp.SUM);
            int times = sweep.queued() * sweep.collective().timesPerCall();
            Stopwatch.CallTimes each = stopwatch.time(batch::run).dividedBy(times);
            double micros = probe.halfRoundTripMicros();
            return new ResultRow(setting, batch.count(), each, wrong[0], micros);
        }
    }

    private void print(String line) {
        if (group.rank() == 0 && !line.isEmpty()) {
            out.println(line);
        }
    }
}

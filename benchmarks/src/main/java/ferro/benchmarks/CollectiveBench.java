package ferro.benchmarks;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/** The program of one rank of {@code ferro bench}; rank 0 prints. */
public final class CollectiveBench {
    private static final int WRONG = 1;
    private static final int BAD_INPUT = 2;

    private final ProcessGroup group;
    private final Row.Setting setting;
    private final Place place;
    private final Sweep sweep;
    private final Stopwatch stopwatch;
    private final PrintStream out;

    CollectiveBench(ProcessGroup group, Row.Setting setting, Place place, Stopwatch stopwatch, PrintStream out) {
        this.group = group;
        this.setting = setting;
        this.place = place;
        this.sweep = setting.sweep();
        this.stopwatch = stopwatch;
        this.out = out;
    }

    /**
     * Measures what the words ask for, over the group that the environment describes; ends with 1 if a result was wrong, with
     * 2 if the words make no sense.
     *
     * @param words as {@link Sweep#parse} reads them
     * @throws IOException if the probe of the machine cannot connect
     */
    public static void main(String[] words) throws IOException {
        long wrong;
        SystemContext context = SystemContext.ofProcess();
        try (ProcessGroup group = ProcessGroup.join();
                Place place = Place.of(group, context)) {
            Sweep sweep = Sweep.parse(List.of(words));
            sweep.checkRanks(group.worldSize());
            Row.Setting setting = Row.Setting.of(sweep, Settings.BACKEND.of(context), group, place.label());
            Stopwatch stopwatch = new Stopwatch(group, Stopwatch.Pace.measuring(sweep.time()));
            wrong = new CollectiveBench(group, setting, place, stopwatch, System.out).run();
        } catch (IllegalArgumentException misuse) {
            System.err.println("ferro bench: " + misuse.getMessage());
            System.exit(BAD_INPUT);
            return;
        }
        if (wrong > 0) {
            System.err.println("ferro bench: " + wrong + " elements are not what a plain loop gives");
            System.exit(WRONG);
        }
    }

    /** Measures all sizes, on every rank at once; returns how many elements were wrong over all ranks and sizes. */
    long run() throws IOException {
        print(sweep.json() ? "" : Row.head(setting));
        long wrong = 0;
        try (WireProbe probe = WireProbe.open(group, System.err)) {
            probe.warmUp();
            for (long size : sweep.sizes()) {
                Row row = measure(size, probe);
                print(sweep.json() ? row.json() : row.table());
                wrong += row.wrong();
            }
        }
        return wrong;
    }

    private Row measure(long size, WireProbe probe) throws IOException {
        try (Batch batch = new Batch(group, place, sweep, size)) {
            long[] wrong = {batch.wrongElements()};
            group.allReduce(wrong, ReduceOp.SUM);
            int times = sweep.queued() * sweep.collective().timesPerCall();
            Stopwatch.Times each = stopwatch.time(batch::run).dividedBy(times);
            double micros = probe.halfRoundTripMicros();
            return new Row(setting, batch.count(), each, wrong[0], micros);
        }
    }

    private void print(String line) {
        if (group.rank() == 0 && !line.isEmpty()) {
            out.println(line);
        }
    }
}

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
    private final String backend;
    private final Sweep sweep;
    private final Stopwatch stopwatch;
    private final PrintStream out;

    CollectiveBench(ProcessGroup group, String backend, Sweep sweep, Stopwatch stopwatch, PrintStream out) {
        this.group = group;
        this.backend = backend;
        this.sweep = sweep;
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
        try (ProcessGroup group = ProcessGroup.join()) {
            Sweep sweep = Sweep.parse(List.of(words));
            sweep.checkRanks(group.worldSize());
            String backend = Settings.BACKEND.of(SystemContext.ofProcess());
            Stopwatch stopwatch = new Stopwatch(group, Stopwatch.Pace.measuring(sweep.time()));
            wrong = new CollectiveBench(group, backend, sweep, stopwatch, System.out).run();
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
        print(sweep.json() ? "" : Row.head(sweep, backend, group.worldSize()));
        long wrong = 0;
        try (LoopbackProbe probe = LoopbackProbe.open(group)) {
            probe.warmUp();
            for (long size : sweep.sizes()) {
                Row row = measure(size, probe);
                print(sweep.json() ? row.json() : row.table());
                wrong += row.wrong();
            }
        }
        return wrong;
    }

    private Row measure(long size, LoopbackProbe probe) throws IOException {
        Operation operation = new Operation(group, sweep, size);
        long[] wrong = {operation.wrongElements()};
        group.allReduce(wrong, ReduceOp.SUM);
        operation.clear();
        Stopwatch.Times times =
                stopwatch.time(operation).dividedBy(sweep.collective().timesPerCall());
        double micros = probe.halfRoundTripMicros();
        return new Row(sweep, backend, group.worldSize(), operation.count(), times, wrong[0], micros);
    }

    private void print(String line) {
        if (group.rank() == 0 && !line.isEmpty()) {
            out.println(line);
        }
    }
}

package ferro.benchmarks;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.Parameter;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The program of one rank of {@code ferro bench overlap}: how much of the communication of a training step hides behind computing;
 * rank 0 prints.
 *
 * <p>For every ratio of computing to communicating, and every size of buckets, these run in turns: computing alone, the buckets alone,
 * computing until the first bucket is ready, the last bucket alone, the step with buckets, and computing followed by one all-reduce.
 */
public final class OverlapBench {
    private static final int WRONG = 1;
    private static final int BAD_INPUT = 2;
    private static final int ESTIMATES = 9;
    private static final double WARM_UP_MILLIS = 1500;

    private final ProcessGroup group;
    private final OverlapRequest request;
    private final PrintStream out;

    OverlapBench(ProcessGroup group, OverlapRequest request, PrintStream out) {
        this.group = group;
        this.request = request;
        this.out = out;
    }

    /**
     * Measures what the words describe, over the group that the environment describes. Exits with 1 if an average was wrong, with 2
     * if the words are invalid.
     *
     * @param words as {@link OverlapRequest#parse} reads them
     * @throws IOException if the wire probe fails
     */
    public static void main(String[] words) throws IOException {
        long wrong;
        try (ProcessGroup group = ProcessGroup.join()) {
            OverlapRequest request = OverlapRequest.parse(List.of(words));
            request.checkRanks(group.worldSize());
            wrong = new OverlapBench(group, request, System.out).run();
        } catch (IllegalArgumentException misuse) {
            System.err.println("ferro bench: " + misuse.getMessage());
            System.exit(BAD_INPUT);
            return;
        }
        if (wrong > 0) {
            System.err.println("ferro bench: " + wrong + " elements differ from the average");
            System.exit(WRONG);
        }
    }

    /** Measures all ratios, on every rank at once; returns how many elements were wrong over all ranks. */
    long run() throws IOException {
        List<Parameter> layers = IntStream.range(0, request.layers())
                .mapToObj(layer -> Parameter.of("layer" + layer, DataType.FLOAT32, request.layerBytes() / Float.BYTES))
                .toList();
        List<OverlapStep> steps = new ArrayList<>();
        try (WireProbe probe = WireProbe.open(group, System.err)) {
            for (long bytes : request.buckets()) {
                steps.add(OverlapStep.of(group, layers, bytes));
            }
            long[] wrong = {steps.stream().mapToLong(OverlapStep::wrongElements).sum()};
            group.allReduce(wrong, ReduceOp.SUM);
            probe.warmUp();
            print(request.json() ? "" : head());
            for (double ratio : request.ratios()) {
                measure(ratio, steps, probe);
            }
            if (!request.json()) {
                OverlapRow.legend().forEach(this::print);
            }
            return wrong[0];
        } finally {
            steps.forEach(OverlapStep::close);
        }
    }

    private String head() {
        return String.format(
                Locale.ROOT,
                "# overlap, %d ranks, %d gradients of %d bytes, data over %s, computing leaves the core %s, medians of %d rounds%n%s",
                group.worldSize(),
                request.layers(),
                request.layerBytes(),
                group.medium().text(),
                request.computing().label(),
                request.rounds(),
                OverlapRow.head());
    }

    private void measure(double ratio, List<OverlapStep> steps, WireProbe probe) throws IOException {
        PartClock clock = new PartClock(group);
        double[] estimate = {communicatingMillis(clock, steps)};
        group.broadcast(estimate, 0);
        long layerNanos = Math.round(ratio * estimate[0] * 1e6 / request.layers());
        Computing computing = request.computing().of(layerNanos);
        double before = probe.halfRoundTripMicros();
        List<OverlapRow> rows = new OverlapRounds(clock, computing, request).run(steps);
        OverlapRow.OverlapSetting setting = new OverlapRow.OverlapSetting(
                group.worldSize(),
                group.medium().text(),
                request.computing().label(),
                before,
                probe.halfRoundTripMicros(),
                OverlapRow.fastest(rows).bucketBytes());
        if (group.rank() == 0) {
            rows.forEach(row -> print(request.json() ? row.json(setting) : row.table()));
            if (!request.json()) {
                print(verdict(setting));
            }
        }
    }

    /** Communicates until the code is warm, and returns how long the fastest size of buckets takes then. */
    private double communicatingMillis(PartClock clock, List<OverlapStep> steps) {
        double fastest = Double.POSITIVE_INFINITY;
        double spent = 0;
        for (int trial = 0; trial < ESTIMATES || spent < WARM_UP_MILLIS; trial++) {
            for (OverlapStep step : steps) {
                double wall = clock.millis(step::communicate).wall();
                fastest = Math.min(fastest, wall);
                spent += wall;
            }
        }
        return fastest;
    }

    private static String verdict(OverlapRow.OverlapSetting setting) {
        return String.format(
                Locale.ROOT,
                "# fastest with buckets of %d bytes: BucketSettings.DEFAULT.withBytes(%d, %d); the probe took %.1f us before and"
                        + " %.1f after%s",
                setting.bestBucketBytes(),
                OverlapRequest.settings(setting.bestBucketBytes()).firstBytes(),
                setting.bestBucketBytes(),
                setting.probeMicros(),
                setting.probeAfterMicros(),
                setting.probesAgree() ? "" : ": the probes differ, measure again");
    }

    private void print(String line) {
        if (group.rank() == 0 && !line.isEmpty()) {
            out.println(line);
        }
    }
}

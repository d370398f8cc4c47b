package ferro.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.Parameter;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The program of one rank of {@code ferro bench overlap}. The program measures how much of the communication of a
 * training step hides behind computing. Only rank 0 prints.
 *
 * <p>The program measures every ratio of computing to communicating, with every size of buckets. For each ratio and
 * size, the following parts run in turns: computing alone, the buckets alone, computing until the first bucket is
 * ready, the last bucket alone, the step with buckets, and computing followed by one all-reduce.
 */
public final class OverlapBench {
    private static final int ESTIMATES = 9;
    private static final double WARM_UP_MILLIS = 1500;
    private static final int WARM_UP_ROUNDS = 3;

    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final ProcessGroup group;
    private final OverlapRequest request;
    private final PrintStream out;

    OverlapBench(ProcessGroup group, OverlapRequest request, PrintStream out) {
        this.group = group;
        this.request = request;
        this.out = out;
    }

    /**
     * Joins the group that the environment describes, and measures overlap. Exits with 1 if an average was wrong, or
     * with 2 if the arguments are invalid.
     *
     * @param words options of the measurement and their values, as {@link OverlapRequest#parse} reads them
     * @throws IOException if the wire probe fails
     */
    public static void main(String[] words) throws IOException {
        CollectiveBench.exitIfWrong("the average", group -> {
            OverlapRequest request = OverlapRequest.parse(List.of(words));
            request.checkRanks(group.worldSize());
            return new OverlapBench(group, request, System.out).run();
        });
    }

    /** Measures all ratios on every rank at once. Returns how many elements were wrong over all ranks. */
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
        double[] estimate = {communicatingMillis(steps)};
        group.broadcast(estimate, 0);
        long layerNanos = Math.round(ratio * estimate[0] * 1e6 / request.layers());
        LayerComputation computing = request.computing().of(layerNanos);
        double before = probe.halfRoundTripMicros();
        List<OverlapRow> rows = rows(steps, computing);
        OverlapRow.RowConditions setting = new OverlapRow.RowConditions(
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

    /** Communicates until the code is compiled. Returns the time of communication with the fastest bucket size. */
    private double communicatingMillis(List<OverlapStep> steps) {
        double fastest = Double.POSITIVE_INFINITY;
        double spent = 0;
        for (int trial = 0; trial < ESTIMATES || spent < WARM_UP_MILLIS; trial++) {
            for (OverlapStep step : steps) {
                double wall = millis(step::communicate)[0];
                fastest = Math.min(fastest, wall);
                spent += wall;
            }
        }
        return fastest;
    }

    /**
     * Runs the parts of all steps in turns. Each round begins with another part. A row has the medians of one bucket
     * size.
     */
    private List<OverlapRow> rows(List<OverlapStep> steps, LayerComputation computing) {
        List<Runnable> parts = new ArrayList<>();
        parts.add(() -> steps.get(0).compute(computing));
        parts.add(() -> steps.get(0).flat(computing));
        steps.forEach(step -> parts.addAll(step.parts(computing)));
        double[][] wall = new double[parts.size()][request.rounds()];
        double[][] cpu = new double[parts.size()][request.rounds()];
        for (int round = -WARM_UP_ROUNDS; round < request.rounds(); round++) {
            for (int turn = 0; turn < parts.size(); turn++) {
                int part = Math.floorMod(turn + round, parts.size());
                double[] took = millis(parts.get(part));
                if (round >= 0) {
                    wall[part][round] = took[0];
                    cpu[part][round] = took[1];
                }
            }
        }
        List<OverlapRow> rows = new ArrayList<>();
        for (int part = 2; part < parts.size(); part += OverlapStep.PARTS) {
            rows.add(new OverlapRow(
                    steps.get(rows.size()).bucketBytes(),
                    median(wall[0]),
                    median(wall[part]),
                    median(wall[part + 1]),
                    median(wall[part + 2]),
                    median(wall[part + 3]),
                    median(wall[1]),
                    median(cpu[part + 3]) - median(cpu[0])));
        }
        return rows;
    }

    private static double median(double[] samples) {
        Arrays.sort(samples);
        return samples[samples.length / 2];
    }

    /**
     * Runs a part on all ranks. Returns the time of the slowest rank and the processor time of all ranks, in
     * milliseconds.
     */
    private double[] millis(Runnable part) {
        group.barrier();
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        part.run();
        double[] wall = {(System.nanoTime() - start) / 1e6};
        double[] used = {(process.getProcessCpuTime() - cpu) / 1e6};
        group.allReduce(wall, ReduceOp.MAX);
        group.allReduce(used, ReduceOp.SUM);
        return new double[] {wall[0], used[0]};
    }

    private static String verdict(OverlapRow.RowConditions setting) {
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

package ferro.benchmarks;

import ferro.HostTensor;
import ferro.benchmarks.model.PlanTime;
import ferro.benchmarks.model.Rates;
import ferro.collectives.algorithm.Algorithm;
import ferro.collectives.algorithm.AlgorithmChoice;
import ferro.collectives.algorithm.AlgorithmChoice.Case;
import ferro.collectives.algorithm.Topology;
import ferro.collectives.plan.Plan;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The program of one rank of {@code ferro bench --predict}. It measures the cost of links and sums, predicts the requested
 * collectives from the plans that the engine would run, measures them too, and prints the expected times of larger worlds
 * with the same links.
 */
public final class PredictBench {
    /** Collectives that the probe times itself: a prediction of these between two ranks proves nothing. */
    private static final Set<Measured> PROBED = EnumSet.of(Measured.BROADCAST, Measured.ALLTOALL);

    private static final List<Integer> WORLDS = List.of(64, 256, 1024, 4096);

    /** Bytes that are in flight before the receiver begins; later pieces are sent meanwhile. */
    private static final long PIECE_BYTES = 16 << 10;

    private static final double CLOSE_ENOUGH = 1.3;

    private final ProcessGroup group;
    private final ProcessGroup pair;
    private final AlgorithmChoice choice;
    private final Prediction asked;
    private final Stopwatch stopwatch;
    private final PrintStream out;

    PredictBench(ProcessGroup group, RankContext context, Prediction asked, Stopwatch.Pace pace, PrintStream out) {
        this.group = group;
        this.asked = asked;
        this.pair = group.rank() < 2 ? group.newGroup(0, 1) : null;
        this.choice = AlgorithmChoice.of(Settings.ALGORITHM.of(context));
        this.stopwatch = new Stopwatch(group, pace);
        this.out = out;
    }

    /**
     * Predicts and measures the collectives that the words name, over the group that the environment describes.
     *
     * @param words as {@link Prediction#parse} reads them
     */
    public static void main(String[] words) {
        Prediction asked = Prediction.parse(List.of(words));
        Stopwatch.Pace pace = new Stopwatch.Pace(Duration.ofSeconds(1), Duration.ofMillis(120), Duration.ofMillis(100));
        try (SystemContext context = SystemContext.ofProcess();
                ProcessGroup group = ProcessGroup.join()) {
            new PredictBench(group, context, asked, pace, System.out).run();
        }
    }

    void run() {
        for (long bytes : asked.sizes()) {
            // makes the JIT compile the code that is timed later
            probe(bytes);
        }
        print("| size | collective | algorithm | measured us | predicted us | predicted / measured |");
        print("|---|---|---|---|---|---|");
        Map<Long, Rates> rates = new TreeMap<>();
        int close = 0;
        int cells = 0;
        for (long bytes : asked.sizes()) {
            rates.put(bytes, probe(bytes));
            for (Measured collective : asked.collectives()) {
                boolean within = compare(collective, bytes, rates.get(bytes));
                boolean counts = group.worldSize() > 2 || !PROBED.contains(collective);
                cells += counts ? 1 : 0;
                close += counts && within ? 1 : 0;
            }
        }
        print(
                cells == 0
                        ? "no cell to check against: the probe uses all cells"
                        : close + " of " + cells + " cells within 30 %, without the cells that the probe uses");
        rates.forEach((bytes, rate) -> print("# tensors of " + bytes + " bytes: " + rate));
        larger(rates);
    }

    /** Prints the predicted and the measured time of a collective; returns whether they are close enough. */
    private boolean compare(Measured collective, long bytes, Rates rates) {
        double measured = measure(collective, bytes);
        double predicted = predict(collective, bytes, rates);
        double ratio = predicted / measured;
        print(String.format(
                Locale.ROOT,
                "| %d | %s | %s | %.1f | %.1f | %.2f |",
                bytes,
                collective.label(),
                algorithm(collective, group.worldSize(), bytes).name(),
                measured,
                predicted,
                ratio));
        return ratio < CLOSE_ENOUGH && ratio > 1 / CLOSE_ENOUGH;
    }

    /**
     * Times the parts of plans between ranks 0 and 1. A barrier is a small message each way, a broadcast a large message one
     * way, an all-to-all of two ranks a large message each way and a copy.
     */
    private Rates probe(long bytes) {
        int half = (int) (bytes / 2 / Float.BYTES);
        HostTensor in = HostTensor.of(new float[2 * half]);
        HostTensor out = HostTensor.of(new float[2 * half]);
        HostTensor part = HostTensor.of(new float[half]);
        double latency = times(pair == null ? () -> {} : pair::barrier);
        double oneWay = times(pair == null ? () -> {} : () -> pair.broadcast(part, 0));
        double combine = combineMicros(half);
        double exchange = times(pair == null ? () -> {} : () -> pair.allToAll(in, out)) - combine;
        return Rates.of(latency, bytes / 2, oneWay, exchange, combine);
    }

    private double times(Runnable operation) {
        return stopwatch.time(operation).median();
    }

    /** Adds a block to a whole array. The block stays in cache, as data just received do. */
    private double combineMicros(int count) {
        float[] into = new float[count];
        float[] block = new float[Math.min(count, 128 << 10)];
        Arrays.fill(block, 1);
        return times(() -> {
            for (int start = 0; start < count; start += block.length) {
                add(into, block, start);
            }
        });
    }

    private static void add(float[] into, float[] block, int start) {
        int length = Math.min(block.length, into.length - start);
        for (int i = 0; i < length; i++) {
            into[start + i] += block[i];
        }
    }

    private double measure(Measured collective, long bytes) {
        try (MeasuredOperation operation =
                new MeasuredOperation(group, new MemoryPlace.Host(), Sweep.of(collective, bytes), bytes)) {
            return times(operation::run);
        }
    }

    private Algorithm algorithm(Measured collective, int worldSize, long bytes) {
        return choice.algorithm(Topology.FLAT, new Case(collective.kind(), worldSize, bytes));
    }

    private Plan plan(Measured collective, int rank, int worldSize, long bytes) {
        return algorithm(collective, worldSize, bytes).plan(rank, worldSize, Expectation.ROOT, null);
    }

    private double predict(Measured collective, long bytes, Rates rates) {
        int worldSize = group.worldSize();
        int seen = Runtime.getRuntime().availableProcessors();
        // a rank that sees only one core is bound to a core of its own
        int cores = seen == 1 ? worldSize : Math.min(worldSize, seen);
        List<Plan> plans = IntStream.range(0, worldSize)
                .mapToObj(rank -> plan(collective, rank, worldSize, bytes))
                .toList();
        return PlanTime.micros(plans, load(collective, bytes, cores), rates);
    }

    private static PlanTime.Load load(Measured collective, long bytes, int cores) {
        return new PlanTime.Load(bytes, PIECE_BYTES, !collective.inParts(), cores);
    }

    /**
     * Prints the expected times of larger worlds. They assume one rank per host, links like that between ranks 0 and 1, and
     * a network without congestion.
     */
    private void larger(Map<Long, Rates> rates) {
        print("| expected us, a core per rank, links as here | size | "
                + String.join(
                        " | ", WORLDS.stream().map(ranks -> ranks + " ranks").toList()) + " |");
        print("|---|---|" + "---|".repeat(WORLDS.size()));
        for (Measured collective : asked.collectives()) {
            for (long bytes : asked.sizes()) {
                StringBuilder line = new StringBuilder("| " + collective.label() + " | " + bytes + " |");
                for (int ranks : WORLDS) {
                    double micros = PlanTime.mirroredMicros(
                            plan(collective, 0, ranks, bytes), load(collective, bytes, 1), rates.get(bytes));
                    line.append(String.format(
                            Locale.ROOT,
                            " %.0f (%s) |",
                            micros,
                            algorithm(collective, ranks, bytes).name()));
                }
                print(line.toString());
            }
        }
    }

    private void print(String line) {
        if (group.rank() == 0) {
            out.println(line);
        }
    }
}

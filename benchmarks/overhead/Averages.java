import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * What an all-reduce in place takes by AVG and by {@code preMultipliedSum}, beside SUM: blocks of the three ops in turns, for each
 * floating type and both kinds of memory. It prints the median of the ratios of blocks that follow each other, the ratio of the
 * fastest blocks, and microseconds of the fastest block of SUM. Tensors hold zeros. Each type is warmed up for 3 s.
 *
 * <p>{@code ./ferro run -n 2 benchmarks/overhead/Averages.java}; words behind it are types ({@code f32}) and memories
 * ({@code heap}, {@code shared}) to measure alone, and {@code time=200} is a time in milliseconds for a cell in place of 240.
 */
public class Averages {
    private static final int[] KIB = {64, 1024, 16384};
    private static final List<DataType> TYPES =
            List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT16, DataType.BFLOAT16);
    private static final List<ReduceOp> OPS =
            List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.preMultipliedSum(1.5));

    private static final long WARM_UP_NANOS = 3_000_000_000L;

    private final ProcessGroup group;
    private final long nanos;

    private Averages(ProcessGroup group, long nanos) {
        this.group = group;
        this.nanos = nanos;
    }

    public static void main(String[] words) {
        List<String> wanted = new ArrayList<>(Arrays.asList(words));
        String time = wanted.stream().filter(word -> word.startsWith("time=")).findFirst().orElse("time=240");
        wanted.remove(time);
        try (ProcessGroup group = ProcessGroup.join()) {
            Averages bench = new Averages(group, Long.parseLong(time.substring(5)) * 1_000_000);
            bench.print("Java " + Runtime.version().feature() + ", " + group.worldSize() + " ranks, data over " + group.medium().text());
            bench.print("| memory | type | KiB | AVG | AVG, fastest | preMultipliedSum | fastest | SUM, us |");
            bench.print("|---|---|---|---|---|---|---|---|");
            for (String memory : List.of("heap", "shared")) {
                for (DataType type : TYPES) {
                    if (asks(wanted, List.of("heap", "shared"), memory)
                            && asks(wanted, TYPES.stream().map(DataType::label).toList(), type.label())) {
                        bench.measure(memory, type);
                    }
                }
            }
        }
    }

    private static boolean asks(List<String> wanted, List<String> all, String one) {
        return wanted.contains(one) || wanted.stream().noneMatch(all::contains);
    }

    private void print(String line) {
        if (group.rank() == 0) {
            System.out.println(line);
        }
    }

    private void measure(String memory, DataType type) {
        int most = KIB[KIB.length - 1] * 1024 / type.byteSize();
        HostTensor all = memory.equals("shared") ? group.allocate(type, most).tensor() : arrays(type, most);
        for (int kib : KIB) {
            HostTensor tensor = all.slice(0, kib * 1024L / type.byteSize());
            // the loops of a type are compiled, and tried, in the first size
            rounds(tensor, 1, kib == KIB[0] ? WARM_UP_NANOS : nanos);
            int calls = (int) Math.max(1, 1_500_000 / block(tensor, ReduceOp.SUM, 3));
            List<double[]> micros = rounds(tensor, calls, nanos);
            print(String.format(
                    Locale.ROOT,
                    "| %s | %s | %d | %.2f | %.2f | %.2f | %.2f | %.1f |",
                    memory, type.label(), kib, ratio(micros, 1), fastest(micros, 1) / fastest(micros, 0),
                    ratio(micros, 2), fastest(micros, 2) / fastest(micros, 0), fastest(micros, 0)));
        }
    }

    private static HostTensor arrays(DataType type, int length) {
        return switch (type) {
            case FLOAT32 -> HostTensor.of(new float[length]);
            case FLOAT64 -> HostTensor.of(new double[length]);
            default -> HostTensor.ofArray(type, new short[length], 0, length);
        };
    }

    private static double ratio(List<double[]> micros, int op) {
        double[] ratios = micros.stream().mapToDouble(round -> round[op] / round[0]).sorted().toArray();
        return ratios[ratios.length / 2];
    }

    private static double fastest(List<double[]> micros, int op) {
        return micros.stream().mapToDouble(round -> round[op]).min().orElseThrow();
    }

    /** A block of each op per round, in an order that changes; every rank makes as many rounds as rank 0 says. */
    private List<double[]> rounds(HostTensor tensor, int calls, long nanos) {
        List<double[]> micros = new ArrayList<>();
        long begun = System.nanoTime();
        byte[] goesOn = {1};
        while (goesOn[0] != 0) {
            double[] round = new double[OPS.size()];
            int first = micros.size();
            IntStream.range(0, OPS.size()).map(turn -> (first + turn) % OPS.size())
                    .forEach(op -> round[op] = block(tensor, OPS.get(op), calls) / 1e3);
            micros.add(round);
            goesOn[0] = (byte) (System.nanoTime() - begun < nanos || micros.size() < 5 ? 1 : 0);
            group.broadcast(goesOn, 0);
        }
        return micros;
    }

    /** Nanoseconds of one call, of the slowest rank. */
    private double block(HostTensor tensor, ReduceOp op, int calls) {
        group.barrier();
        long before = System.nanoTime();
        for (int call = 0; call < calls; call++) {
            group.allReduce(tensor, op);
        }
        double[] took = {System.nanoTime() - before};
        group.allReduce(took, ReduceOp.MAX);
        return took[0] / calls;
    }
}

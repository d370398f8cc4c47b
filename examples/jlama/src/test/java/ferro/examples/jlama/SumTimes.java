package ferro.examples.jlama;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.segments.Segments;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A program that measures sums of the sizes that Jlama adds: by ferro over memory segments, and by a star through one
 * server. Both take turns in one run. Rank 0 prints a line for each size: medians in microseconds.
 */
final class SumTimes {
    private static final int[] SIZES = {2304, 9216};

    private final ProcessGroup group;
    private final NettyStar.Client star;

    private SumTimes(ProcessGroup group, NettyStar.Client star) {
        this.group = group;
        this.star = star;
    }

    /** Takes the number of turns, and of sums in each turn; the first third of the turns warms up. */
    public static void main(String[] arguments) {
        int turns = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 9;
        int sums = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 300;
        try (ProcessGroup group = ProcessGroup.join()) {
            run(group, turns, sums).forEach(System.out::println);
        }
        System.exit(0);
    }

    static List<String> run(ProcessGroup group, int turns, int sums) {
        int[] port = new int[1];
        try (NettyStar.Server server = group.rank() == 0 ? new NettyStar.Server() : null) {
            port[0] = server == null ? 0 : server.port();
            group.broadcast(port, 0);
            try (NettyStar.Client star = new NettyStar.Client(group.rank(), group.worldSize(), port[0])) {
                SumTimes times = new SumTimes(group, star);
                List<String> lines = Arrays.stream(SIZES)
                        .mapToObj(size -> times.measure(size, turns, sums))
                        .toList();
                group.barrier();
                return group.rank() == 0 ? lines : List.of();
            }
        }
    }

    private String measure(int size, int turns, int sums) {
        long[] byStar = new long[turns * sums];
        long[] byFerro = new long[turns * sums];
        for (int turn = 0; turn < turns; turn++) {
            group.barrier();
            for (int at = 0; at < sums; at++) {
                byStar[turn * sums + at] = sumByStar(size);
            }
            group.barrier();
            for (int at = 0; at < sums; at++) {
                byFerro[turn * sums + at] = sumByFerro(size);
            }
        }
        int warm = turns / 3 * sums;
        double star = median(byStar, warm);
        double ferro = median(byFerro, warm);
        return String.format(
                Locale.ROOT,
                "%d ranks, %d floats, %s: star %.0f us, ferro %.0f us, ratio %.2f",
                group.worldSize(),
                size,
                group.medium(),
                star,
                ferro,
                ferro / star);
    }

    private long sumByStar(int size) {
        float[] own = new float[size];
        Arrays.fill(own, group.rank() + 1);
        long begin = System.nanoTime();
        float[] sum = star.sum(own);
        long nanos = System.nanoTime() - begin;
        check(sum[size - 1]);
        return nanos;
    }

    private long sumByFerro(int size) {
        MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, size);
        HostTensor tensor = Segments.tensor(DataType.FLOAT32, memory);
        for (int i = 0; i < size; i++) {
            tensor.setFloat(i, group.rank() + 1);
        }
        long begin = System.nanoTime();
        group.allReduce(Segments.tensor(DataType.FLOAT32, memory), ReduceOp.SUM);
        long nanos = System.nanoTime() - begin;
        check(tensor.getFloat(size - 1));
        return nanos;
    }

    private void check(float sum) {
        float expected = group.worldSize() * (group.worldSize() + 1) / 2f;
        if (sum != expected) {
            throw new IllegalStateException("sum is " + sum + ", need " + expected);
        }
    }

    private static double median(long[] nanos, int from) {
        long[] sorted = Arrays.copyOfRange(nanos, from, nanos.length);
        Arrays.sort(sorted);
        return sorted[sorted.length / 2] / 1e3;
    }
}

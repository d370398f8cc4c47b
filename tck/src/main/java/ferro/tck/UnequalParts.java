package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The calls of one rank with parts of unequal length. The calls cover every collective with parts. */
final class UnequalParts {
    /** The collectives with parts. */
    static final List<String> KINDS =
            List.of("allGather", "gather", "scatter", "reduceScatter", "averages", "allToAll");

    private final Subject subject;
    private final ProcessGroup group;
    private final int rank;
    private final int size;
    private final int unit;
    private final long[] counts;
    private final boolean isStarted;

    UnequalParts(Subject subject, ProcessGroup group, int unit) {
        this(subject, group, unit, false);
    }

    /** If {@code isStarted} is true, each call is submitted and then awaited. Otherwise each call blocks. */
    UnequalParts(Subject subject, ProcessGroup group, int unit, boolean isStarted) {
        this.subject = subject;
        this.group = group;
        this.rank = group.rank();
        this.size = group.worldSize();
        this.unit = unit;
        this.isStarted = isStarted;
        this.counts = IntStream.range(0, size).mapToLong(this::length).toArray();
    }

    /** Returns the length of a part. Every third part is empty. The other lengths differ. */
    private long length(int index) {
        return (index % 3 == 1 ? 0 : index + 1L) * unit;
    }

    /** Returns how many elements rank {@code from} sends to rank {@code to}. The number may be zero. */
    private long length(int from, int to) {
        return length((2 * from + to) % (size + 2));
    }

    /** Makes every call and checks its result. */
    void check() {
        KINDS.forEach(this::check);
    }

    /** Makes the call of one kind and checks its result. */
    void check(String kind) {
        double[] all = joined(counts);
        double[] own = mark(rank, counts[rank]);
        int root = size - 1;
        switch (kind) {
            case "allGather" -> {
                double[] out = new double[all.length];
                run(Collective.allGather(HostTensor.of(own), HostTensor.of(out), counts), out, all);
            }
            case "gather" -> {
                HostTensor part = HostTensor.of(own);
                double[] onRoot = rank == root ? new double[all.length] : null;
                Collective call = onRoot == null
                        ? Collective.gather(part, root, counts)
                        : Collective.gather(part, HostTensor.of(onRoot), root, counts);
                run(call, onRoot, all);
            }
            case "scatter" -> {
                double[] part = new double[own.length];
                Collective call = rank == root
                        ? Collective.scatter(HostTensor.of(all), HostTensor.of(part), root, counts)
                        : Collective.scatter(HostTensor.of(part), root, counts);
                run(call, part, own);
            }
            case "reduceScatter" -> reduceScatter(all);
            case "averages" -> averages();
            default -> allToAll();
        }
    }

    /** Checks averages whose sums exceed the range of i32. The results are in separate memory or in place. */
    private void averages() {
        int start = (int) Arrays.stream(counts, 0, rank).sum();
        int[] want = new int[(int) counts[rank]];
        // rank r gives m - r, so the average is m - (size - 1) / 2, rounded toward zero
        Arrays.setAll(want, i -> (int) ((size * extreme(start + i) - size * (size - 1L) / 2) / size));
        for (boolean inPlace : new boolean[] {false, true}) {
            int[] in = new int[(int) Arrays.stream(counts).sum()];
            Arrays.setAll(in, i -> (int) (extreme(i) - rank));
            HostTensor operand = HostTensor.of(in);
            HostTensor part = inPlace ? operand.slice(start, want.length) : HostTensor.of(new int[want.length]);
            if (runIfDone(Collective.reduceScatter(operand, part, ReduceOp.AVG, counts))) {
                int[] found = (int[]) part.memory();
                int from = (int) part.offset();
                String what = "averages of unequal parts of " + unit + (inPlace ? " in place" : "");
                assertArrayEquals(want, Arrays.copyOfRange(found, from, from + want.length), what + " on rank " + rank);
            }
        }
    }

    /** Returns a number near one of the two ends of the range of i32. */
    private static long extreme(int index) {
        long size = Integer.MAX_VALUE - 100 - index % 100;
        return index % 2 == 0 ? size : -size;
    }

    private void reduceScatter(double[] all) {
        double[] in = new double[all.length];
        Arrays.setAll(in, i -> (rank + 1) * (i % 100 + 1));
        int start = (int) Arrays.stream(counts, 0, rank).sum();
        double[] want = new double[(int) counts[rank]];
        Arrays.setAll(want, i -> size * (size + 1) / 2 * ((start + i) % 100 + 1));
        double[] out = new double[want.length];
        run(Collective.reduceScatter(HostTensor.of(in), HostTensor.of(out), ReduceOp.SUM, counts), out, want);
    }

    private void allToAll() {
        long[] sends =
                IntStream.range(0, size).mapToLong(to -> length(rank, to)).toArray();
        long[] receives =
                IntStream.range(0, size).mapToLong(from -> length(from, rank)).toArray();
        double[] in = new double[(int) Arrays.stream(sends).sum()];
        Arrays.fill(in, rank + 1);
        double[] out = new double[(int) Arrays.stream(receives).sum()];
        Collective call = Collective.allToAll(HostTensor.of(in), HostTensor.of(out), sends, receives);
        run(call, out, repeated(receives));
    }

    private void run(Collective call, double[] found, double[] need) {
        if (runIfDone(call) && found != null) {
            if (!Arrays.equals(need, found)) {
                assertArrayEquals(need, found, call.kind() + " of unequal parts of " + unit + " on rank " + rank);
            }
        }
    }

    private boolean runIfDone(Collective call) {
        return runIfDone(subject, group, call, isStarted);
    }

    /** Runs a call and returns true. If the back end refuses the call, counts the refusal and returns false. */
    static boolean runIfDone(Subject subject, ProcessGroup group, Collective call, boolean isStarted) {
        if (Cells.RefusedCells.of(group, call).isPresent()) {
            if (group.rank() == 0) {
                subject.refused("unequal parts");
            }
            return false;
        }
        CollectiveBackend backend = (CollectiveBackend) group.backend();
        if (isStarted) {
            backend.submit(call, backend.timeout()).await();
        } else {
            backend.run(call, backend.timeout());
        }
        return true;
    }

    private static double[] mark(int rank, long count) {
        double[] part = new double[(int) count];
        Arrays.setAll(part, i -> (rank + 1) * 1000 + i % 1000);
        return part;
    }

    private double[] joined(long[] lengths) {
        double[] all = new double[(int) Arrays.stream(lengths).sum()];
        int at = 0;
        for (int from = 0; from < size; from++) {
            double[] part = mark(from, lengths[from]);
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    private static double[] repeated(long[] lengths) {
        double[] all = new double[(int) Arrays.stream(lengths).sum()];
        int at = 0;
        for (int from = 0; from < lengths.length; from++) {
            Arrays.fill(all, at, at + (int) lengths[from], from + 1);
            at += (int) lengths[from];
        }
        return all;
    }
}

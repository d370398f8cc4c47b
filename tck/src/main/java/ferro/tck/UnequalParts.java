package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.Held;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Calls;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

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
    void check(String what) {
        switch (what) {
            case "averages" -> averages();
            case "allToAll" -> allToAll();
            default -> check(CollectiveKind.parse(what));
        }
    }

    private void check(CollectiveKind kind) {
        int root = size - 1;
        double[] all = kind.combines() ? mark(rank, LongStream.of(counts).sum()) : joined(counts, from -> from);
        double[] own = kind.combines() ? sums() : mark(rank, counts[rank]);
        double[] in = kind.in() == Held.PART ? own : kind.in().has(rank == root) ? all : null;
        double[] need = kind.out() == Held.PART ? own : kind.out().has(rank == root) ? all : null;
        double[] out = need == null ? null : new double[need.length];
        run(Calls.of(kind, tensor(in), tensor(out), ReduceOp.SUM, root, counts), out, need);
    }

    private static HostTensor tensor(double[] elements) {
        return elements == null ? null : HostTensor.of(elements);
    }

    /** Returns the sums of the marks of all ranks, for the part of this rank. */
    private double[] sums() {
        int start = (int) LongStream.of(counts).limit(rank).sum();
        double[] sums = new double[(int) counts[rank]];
        Arrays.setAll(sums, i -> 1000 * size * (size + 1) / 2 + size * ((start + i) % 1000));
        return sums;
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

    private void allToAll() {
        long[] sends =
                IntStream.range(0, size).mapToLong(to -> length(rank, to)).toArray();
        long[] receives =
                IntStream.range(0, size).mapToLong(from -> length(from, rank)).toArray();
        double[] out = new double[(int) LongStream.of(receives).sum()];
        HostTensor in = HostTensor.of(joined(sends, to -> rank));
        run(Collective.allToAll(in, HostTensor.of(out), sends, receives), out, joined(receives, from -> from));
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
        boolean isDone = !Cells.isRefused(subject, group, call, "unequal parts");
        if (isDone && isStarted) {
            group.submit(call).await();
        } else if (isDone) {
            Calls.run(group, call);
        }
        return isDone;
    }

    private static double[] mark(int rank, long count) {
        double[] part = new double[(int) count];
        Arrays.setAll(part, i -> (rank + 1) * 1000 + i % 1000);
        return part;
    }

    /** Returns parts of these lengths, with the marks of the rank of each part. */
    private static double[] joined(long[] lengths, IntUnaryOperator rankOfPart) {
        return IntStream.range(0, lengths.length)
                .mapToObj(part -> mark(rankOfPart.applyAsInt(part), lengths[part]))
                .flatMapToDouble(Arrays::stream)
                .toArray();
    }
}

package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.Held;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** The calls of one rank that use one memory for operand and result. They cover every collective in each legal form. */
public final class InPlaceCalls {
    private static final int MARK = 1000;

    private final OneMemory memory;
    private final int rank;
    private final int size;
    private final int part;
    private final int root;
    private final Consumer<InPlace> runs;

    /**
     * A call with its expected result.
     *
     * @param name  name for messages
     * @param call  operation
     * @param seen  elements to check after the call
     * @param right expected values of these elements, by index
     */
    public record InPlace(String name, Collective call, HostTensor seen, IntUnaryOperator right) {}

    /** Creates the calls on memory of {@link #length} elements. {@code runs} must run each call immediately. */
    public InPlaceCalls(OneMemory memory, ProcessGroup group, int part, Consumer<InPlace> runs) {
        this.memory = memory;
        this.rank = group.rank();
        this.size = group.worldSize();
        this.part = part;
        this.root = size - 1;
        this.runs = runs;
    }

    /** Returns how many elements the calls need. */
    public static int length(int size, int part) {
        return 2 * size * (part + size);
    }

    /** Returns unequal lengths of parts. If there are two or more parts, one part has no elements. */
    static long[] unequal(int size, int part) {
        return IntStream.range(0, size)
                .mapToLong(index -> index == 1 ? 0 : part + index)
                .toArray();
    }

    /** Makes the calls of all kinds and checks their results. */
    public void run() {
        identical();
        long[] equal = LongStream.generate(() -> part).limit(size).toArray();
        new InPlacePart("own part", equal, new long[0]).run();
        long[] unequal = unequal(size, part);
        new InPlacePart("own part, unequal parts", unequal, unequal).run();
        ignored();
        sideBySide();
        nothing();
    }

    private void run(String how, Collective call, HostTensor seen, IntUnaryOperator right) {
        String name = call.kind() + " on rank " + rank + " of " + size + ", parts of " + part + ", " + how;
        runs.accept(new InPlace(name, call, seen, right));
        memory.clear();
    }

    private static int mark(int rank, int index) {
        return (rank + 1) * MARK + index % MARK;
    }

    private int ownMark(int index) {
        return mark(rank, index);
    }

    private int sum(int index) {
        return MARK * size * (size + 1) / 2 + size * (index % MARK);
    }

    private HostTensor marked(HostTensor tensor) {
        return Bits.fill(tensor, this::ownMark);
    }

    private void identical() {
        HostTensor data = marked(memory.cut(0, part));
        run("identical range", Collective.allReduce(data, memory.cut(0, part), ReduceOp.SUM), data, this::sum);
        marked(data);
        run("one tensor", Collective.allReduce(data, ReduceOp.SUM), data, this::sum);
        marked(data);
        HostTensor result = memory.cut(0, part);
        IntUnaryOperator right = rank == root ? this::sum : this::ownMark;
        run("identical range", Collective.reduce(data, result, ReduceOp.SUM, root), data, right);
        if (rank == root) {
            marked(data);
        }
        run("one tensor", Collective.broadcast(data, root), data, index -> mark(root, index));
    }

    /**
     * Calls in which the part of this rank is the slice of the full tensor at the offset of this part. The field
     * {@code given} is empty for equal parts.
     */
    private final class InPlacePart {
        private final String how;
        private final long[] counts;
        private final long[] given;
        private final int start;
        private final HostTensor full;
        private final HostTensor own;
        private final boolean isRoot = rank == root;

        InPlacePart(String how, long[] counts, long[] given) {
            this.how = how;
            this.counts = counts;
            this.given = given;
            this.start = (int) LongStream.of(counts).limit(rank).sum();
            this.full = memory.cut(0, LongStream.of(counts).sum());
            this.own = memory.cut(start, counts[rank]);
        }

        void run() {
            // each part is a slice of the tensor of all parts
            for (CollectiveKind kind : Calls.kinds(each -> each.in() == Held.PART || each.out() == Held.PART)) {
                HostTensor in = !kind.in().has(isRoot) ? null : kind.in() == Held.PART ? own : full;
                HostTensor out = !kind.out().has(isRoot) ? null : kind.out() == Held.PART ? own : full;
                if (in != null) {
                    marked(in);
                }
                Collective call = Calls.of(kind, in, out, ReduceOp.SUM, root, given);
                InPlaceCalls.this.run(how, call, out == null ? in : out, index -> right(kind, out == full, index));
            }
        }

        private int right(CollectiveKind kind, boolean isFull, int index) {
            if (!kind.out().has(isRoot)) {
                return ownMark(index);
            }
            int at = isFull ? index : start + index;
            return kind.combines() ? sum(at) : isFull ? joined(at) : mark(root, at);
        }

        private int joined(int index) {
            int from = 0;
            int at = index;
            while (at >= counts[from]) {
                at -= (int) counts[from++];
            }
            return mark(from, at);
        }
    }

    /** Runs calls in which a rank only sends or only receives. Its other tensor is ignored and may overlap. */
    private void ignored() {
        int total = size * part;
        boolean isRoot = rank == root;
        HostTensor full = memory.cut(0, total);
        HostTensor shifted = memory.cut(isRoot ? total : 1, total);
        marked(full);
        run(
                "ignored result",
                Collective.reduce(full, shifted, ReduceOp.SUM, root),
                isRoot ? shifted : full,
                isRoot ? this::sum : this::ownMark);
        HostTensor own = memory.cut(isRoot ? total : 1, part);
        marked(own);
        run(
                "ignored result",
                Collective.gather(own, full, root),
                isRoot ? full : own,
                index -> isRoot ? mark(index / part, index % part) : ownMark(index));
        if (isRoot) {
            marked(full);
        }
        run("ignored operand", Collective.scatter(full, own, root), own, index -> mark(root, rank * part + index));
    }

    private void sideBySide() {
        int total = size * part;
        HostTensor in = Bits.fill(memory.cut(0, total), index -> mark(rank, index / part));
        HostTensor out = memory.cut(total, total);
        run("side by side", Collective.allToAll(in, out), out, index -> mark(index / part, rank));
        HostTensor before = marked(memory.cut(total - part, part));
        run("side by side", Collective.allGather(before, out), out, index -> mark(index / part, index % part));
    }

    private void nothing() {
        HostTensor full = memory.cut(0, part);
        HostTensor none = memory.cut(part / 2, 0);
        HostTensor other = memory.cut(0, 0);
        List<Collective> calls = List.of(
                Collective.allReduce(none, other, ReduceOp.SUM),
                Collective.allGather(none, other),
                Collective.reduceScatter(none, other, ReduceOp.SUM),
                Collective.allToAll(none, none));
        for (Collective call : calls) {
            marked(full);
            run("nothing", call, full, this::ownMark);
        }
    }
}

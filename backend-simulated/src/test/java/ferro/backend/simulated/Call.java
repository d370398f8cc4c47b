package ferro.backend.simulated;

import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;
import ferro.tck.cells.CellCall;
import ferro.tck.cells.ExpectedElements;
import ferro.tck.cells.Operand;
import ferro.tck.cells.Oracle;
import ferro.tck.cells.ReferenceMath;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * One collective of a program: what every rank puts in, what it must find afterwards by a plain loop over all ranks, and the
 * memory that is a canary once the call has ended on a rank. No data is an identity element of its operation.
 */
final class Call implements Op {
    static final List<CollectiveKind> KINDS = Stream.concat(Cell.KINDS.stream(), Stream.of(CollectiveKind.BARRIER))
            .toList();
    static final List<DataType> TYPES = List.of(DataType.INT32, DataType.INT64, DataType.FLOAT32, DataType.FLOAT64);
    static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    private final Shape shape;
    private final CellCall[] calls;
    /** The memory of each rank. */
    private final List<List<Operand>> memory;
    /** A rank that makes this call where the others make another, or -1. */
    private int culprit = -1;

    /** What makes two calls the same for the engine. */
    record Shape(CollectiveKind kind, DataType type, int count, int root, ReduceOp op) {
        boolean isLike(Shape other) {
            return kind == other.kind
                    && (kind == CollectiveKind.BARRIER || type == other.type && count == other.count)
                    && (!kind.isRooted() || root == other.root)
                    && (!kind.combines() || op == other.op);
        }

        /** Returns whether a rank needs nobody else's data, so that it may be done before a mistake of others is seen. */
        boolean needsNobody(int rank) {
            return switch (kind) {
                case BROADCAST, SCATTER -> rank == root;
                case REDUCE, GATHER -> rank != root;
                default -> kind.isScan() && rank == 0;
            };
        }
    }

    Call(Shape shape, int worldSize, SplittableRandom random) {
        this(shape, worldSize, random, false);
    }

    /** Draws also elements below zero if {@code isSigned}. */
    Call(Shape shape, int worldSize, SplittableRandom random, boolean isSigned) {
        this.shape = shape;
        long[][] small = new long[worldSize][];
        long[][] big = new long[worldSize][];
        // 1 is the identity of PRODUCT; few products fit a float
        int values = shape.op == ReduceOp.PRODUCT ? 2 : 50;
        for (int rank = 0; rank < worldSize; rank++) {
            small[rank] = draw(random, shape.count, values, isSigned);
            big[rank] = draw(random, shape.count * worldSize, values, isSigned);
        }
        Drawn drawn = new Drawn(shape, shape.kind.hasParts() && shape.kind.in() != DataShare.PART ? big : small);
        Cell cell = new Cell(shape.kind, shape.type, shape.op, shape.count, shape.root, !shape.kind.hasParts());
        calls = new CellCall[worldSize];
        memory = Stream.<List<Operand>>generate(ArrayList::new).limit(worldSize).toList();
        for (int rank = 0; rank < worldSize; rank++) {
            List<Operand> own = memory.get(rank);
            calls[rank] = CellCall.of(cell, rank, worldSize, drawn, (type, length, isOutput) -> {
                own.add(Operand.unwritten(type, length, Operand.OperandMemory.ARRAY));
                return own.get(own.size() - 1);
            });
        }
    }

    private static long[] draw(SplittableRandom random, int count, int values, boolean isSigned) {
        long[] drawn = new long[count];
        Arrays.setAll(drawn, i -> (2 + random.nextInt(values)) * (isSigned && random.nextBoolean() ? -1 : 1));
        return drawn;
    }

    /** The numbers that each rank puts in, and what they give together. */
    private record Drawn(Shape shape, long[][] numbers) implements Oracle {
        @Override
        public long[] elements(CollectiveKind kind, int rank, int from, int count) {
            return bits(Arrays.copyOfRange(numbers[rank], from, from + count));
        }

        @Override
        public ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp op, int from, int count) {
            if (ranks.isEmpty()) {
                long[] identities = new long[count];
                Arrays.fill(identities, ReferenceMath.identity(shape.type, op));
                return ExpectedElements.exactly(identities);
            }
            long[] result = Arrays.copyOfRange(numbers[ranks.from()], from, from + count);
            for (int rank = ranks.from() + 1; rank < ranks.to(); rank++) {
                long[] input = numbers[rank];
                Arrays.setAll(result, i -> ReferenceMath.combine(DataType.INT64, op, result[i], input[from + i]));
            }
            return ExpectedElements.exactly(bits(result));
        }

        private long[] bits(long[] integers) {
            boolean real = ReferenceMath.isFloating(shape.type);
            return Arrays.stream(integers)
                    .map(each ->
                            real ? ReferenceMath.ofDouble(shape.type, each) : ReferenceMath.narrow(shape.type, each))
                    .toArray();
        }
    }

    Shape shape() {
        return shape;
    }

    /** Lets only one rank make this call: the call must fail then, unless the rank needs nobody's data. */
    Call madeOnlyBy(int rank) {
        culprit = rank;
        return this;
    }

    @Override
    public boolean isInOrder() {
        return true;
    }

    @Override
    public Work submit(ProcessGroup group) {
        return group.submit(calls[group.rank()].call());
    }

    @Override
    public String wrongOn(int rank) {
        if (culprit >= 0 && !shape.needsNobody(culprit)) {
            return "it succeeded, but nobody else made this call";
        }
        return calls[rank].wrong();
    }

    @Override
    public void reuseMemoryOf(int rank) {
        memory.get(rank).forEach(Operand::unwrite);
    }

    @Override
    public boolean isTouchedOn(int rank) {
        return !memory.get(rank).stream().allMatch(Operand::isUnwritten);
    }

    @Override
    public String toString() {
        return (culprit < 0 ? "" : "mistaken ") + shape;
    }
}

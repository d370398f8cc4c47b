package ferro.backend.simulated;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One collective of a program: what every rank puts in, what it must find afterwards by a plain loop over all ranks, and the
 * memory that is a canary once the call has ended on a rank. No data is an identity element of its operation.
 */
final class Call implements Op {
    static final List<String> KINDS = List.of(
            "allReduce",
            "broadcast",
            "reduce",
            "allGather",
            "reduceScatter",
            "gather",
            "scatter",
            "allToAll",
            "scan",
            "exclusiveScan",
            "barrier");
    static final List<DataType> TYPES = List.of(DataType.INT32, DataType.INT64, DataType.FLOAT32, DataType.FLOAT64);
    static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    private final Shape shape;
    private final int worldSize;
    private final long[][] small;
    private final long[][] big;
    private final Cells[] smallCells;
    private final Cells[] bigCells;
    private final Cells[] sentCells;

    /** What makes two calls the same for the engine. */
    record Shape(String kind, DataType type, int count, int root, ReduceOp op) {
        boolean isLike(Shape other) {
            return kind.equals(other.kind)
                    && (kind.equals("barrier") || type == other.type && count == other.count)
                    && (!isRooted() || root == other.root)
                    && (!isReducing() || op == other.op);
        }

        boolean isRooted() {
            return List.of("broadcast", "reduce", "gather", "scatter").contains(kind);
        }

        boolean isReducing() {
            return List.of("allReduce", "reduce", "reduceScatter", "scan", "exclusiveScan")
                    .contains(kind);
        }

        /** Returns whether a rank needs nobody else's data, so that it may be done before a mistake of others is seen. */
        boolean needsNobody(int rank) {
            return switch (kind) {
                case "broadcast", "scatter" -> rank == root;
                case "reduce", "gather" -> rank != root;
                case "scan", "exclusiveScan" -> rank == 0;
                default -> false;
            };
        }
    }

    Call(Shape shape, int worldSize, SplittableRandom random) {
        this.shape = shape;
        this.worldSize = worldSize;
        small = new long[worldSize][];
        big = new long[worldSize][];
        smallCells = new Cells[worldSize];
        bigCells = new Cells[worldSize];
        sentCells = new Cells[worldSize];
        // 1 is the identity of PRODUCT; few products fit a float
        int values = shape.op == ReduceOp.PRODUCT ? 2 : 50;
        for (int rank = 0; rank < worldSize; rank++) {
            small[rank] = draw(random, shape.count, values);
            big[rank] = draw(random, shape.count * worldSize, values);
            smallCells[rank] = Cells.of(shape.type, small[rank]);
            bigCells[rank] = Cells.of(shape.type, big[rank]);
            sentCells[rank] = shape.kind.equals("allToAll") ? Cells.of(shape.type, big[rank]) : bigCells[rank];
        }
    }

    private static long[] draw(SplittableRandom random, int count, int values) {
        long[] drawn = new long[count];
        Arrays.setAll(drawn, i -> 2 + random.nextInt(values));
        return drawn;
    }

    Shape shape() {
        return shape;
    }

    @Override
    public boolean isInOrder() {
        return true;
    }

    @Override
    public Work submit(ProcessGroup group) {
        int rank = group.rank();
        var part = smallCells[rank].tensor();
        var whole = bigCells[rank].tensor();
        return switch (shape.kind) {
            case "allReduce" -> group.allReduceAsync(part, shape.op);
            case "broadcast" -> group.broadcastAsync(part, shape.root);
            case "reduce" -> group.reduceAsync(part, shape.op, shape.root);
            case "allGather" -> group.allGatherAsync(part, whole);
            case "reduceScatter" -> group.reduceScatterAsync(whole, part, shape.op);
            case "gather" -> group.gatherAsync(part, whole, shape.root);
            case "scatter" -> group.scatterAsync(rank == shape.root ? whole : null, part, shape.root);
            case "allToAll" -> group.allToAllAsync(sentCells[rank].tensor(), whole);
            case "scan" -> group.scanAsync(part, shape.op);
            case "exclusiveScan" -> group.exclusiveScanAsync(part, shape.op);
            default -> group.barrierAsync();
        };
    }

    /** Returns whether the result of a rank is an infinity of floats, which no long integer is. */
    private boolean isInfinite(int rank) {
        return shape.kind.equals("exclusiveScan")
                && rank == 0
                && (shape.op == ReduceOp.MIN || shape.op == ReduceOp.MAX);
    }

    @Override
    public String wrongOn(int rank) {
        int wrong = isInfinite(rank) ? -1 : smallCells[rank].firstWrong(expectedSmall(rank));
        if (wrong >= 0) {
            return "small operand of rank " + rank + " has " + smallCells[rank].at(wrong) + " at " + wrong + ", need "
                    + expectedSmall(rank)[wrong];
        }
        if (shape.kind.equals("reduceScatter")) {
            return null;
        }
        wrong = bigCells[rank].firstWrong(expectedBig(rank));
        return wrong < 0
                ? null
                : "big operand of rank " + rank + " has " + bigCells[rank].at(wrong) + " at " + wrong + ", need "
                        + expectedBig(rank)[wrong];
    }

    private long[] expectedSmall(int rank) {
        return switch (shape.kind) {
            case "allReduce" -> reduced(small, 0);
            case "scan" -> reduced(Arrays.copyOf(small, rank + 1), 0);
            case "exclusiveScan" -> rank == 0 ? identities() : reduced(Arrays.copyOf(small, rank), 0);
            case "broadcast" -> small[shape.root];
            case "reduce" -> rank == shape.root ? reduced(small, 0) : small[rank];
            case "reduceScatter" -> reduced(big, rank * shape.count);
            case "scatter" -> Arrays.copyOfRange(big[shape.root], rank * shape.count, (rank + 1) * shape.count);
            default -> small[rank];
        };
    }

    private long[] expectedBig(int rank) {
        boolean gathers = shape.kind.equals("allGather") || shape.kind.equals("gather") && rank == shape.root;
        if (!gathers && !shape.kind.equals("allToAll")) {
            return big[rank];
        }
        long[] whole = new long[shape.count * worldSize];
        for (int from = 0; from < worldSize; from++) {
            long[] source = gathers ? small[from] : big[from];
            System.arraycopy(source, gathers ? 0 : rank * shape.count, whole, from * shape.count, shape.count);
        }
        return whole;
    }

    private long[] identities() {
        long[] all = new long[shape.count];
        Arrays.fill(all, shape.op == ReduceOp.PRODUCT ? 1 : 0);
        return all;
    }

    private long[] reduced(long[][] inputs, int from) {
        long[] result = Arrays.copyOfRange(inputs[0], from, from + shape.count);
        for (int rank = 1; rank < inputs.length; rank++) {
            for (int i = 0; i < shape.count; i++) {
                result[i] = combine(result[i], inputs[rank][from + i]);
            }
        }
        return result;
    }

    private long combine(long one, long other) {
        return switch (shape.op.name()) {
            case "sum" -> one + other;
            case "product" -> one * other;
            case "min" -> Math.min(one, other);
            default -> Math.max(one, other);
        };
    }

    @Override
    public void reuseMemoryOf(int rank) {
        smallCells[rank].fillWithCanary();
        bigCells[rank].fillWithCanary();
        sentCells[rank].fillWithCanary();
    }

    @Override
    public boolean isTouchedOn(int rank) {
        return smallCells[rank].firstTouched() >= 0
                || bigCells[rank].firstTouched() >= 0
                || sentCells[rank].firstTouched() >= 0;
    }

    @Override
    public String toString() {
        return shape.toString();
    }
}

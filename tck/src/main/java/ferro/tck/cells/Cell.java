package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * One call to check, the same on every rank.
 *
 * @param kind    as {@link ferro.Collective#kind()}
 * @param type    type of the elements
 * @param op      how to combine; null for a kind that only moves
 * @param length  elements of the operand, or of one rank's part if there are parts
 * @param root    root of a rooted kind
 * @param inPlace whether input and output share memory
 */
public record Cell(CollectiveKind kind, DataType type, ReduceOp op, int length, int root, boolean inPlace) {
    /** Types that every back end must support, or declare to refuse, at every length. */
    private static final List<DataType> AT_ALL_LENGTHS =
            List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64);

    /** The other types, checked at one length only: what depends on the length does not depend on the type. */
    private static final List<DataType> AT_ONE_LENGTH = List.of(
            DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64, DataType.FLOAT16, DataType.BFLOAT16);

    /** All kinds with data. */
    public static final List<CollectiveKind> KINDS = List.of(
            CollectiveKind.ALL_REDUCE,
            CollectiveKind.BROADCAST,
            CollectiveKind.REDUCE,
            CollectiveKind.ALL_GATHER,
            CollectiveKind.REDUCE_SCATTER,
            CollectiveKind.GATHER,
            CollectiveKind.SCATTER,
            CollectiveKind.ALL_TO_ALL);

    private static final List<ReduceOp> OPS =
            List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG);

    /**
     * Returns all cells of a kind: every length around the world size, type and op, in place or not. The root changes from
     * cell to cell. The types of {@link #AT_ONE_LENGTH} have the longest of these lengths.
     */
    public static List<Cell> of(CollectiveKind kind, int worldSize) {
        List<Cell> cells = new ArrayList<>();
        // a list: processes would disagree about the order of a set
        Set<Integer> lengths = new LinkedHashSet<>(List.of(0, 1, worldSize - 1, worldSize, worldSize + 1));
        for (int length : lengths) {
            for (DataType type : AT_ALL_LENGTHS) {
                add(cells, new Cell(kind, type, null, length, 0, false), worldSize);
            }
        }
        for (DataType type : AT_ONE_LENGTH) {
            add(cells, new Cell(kind, type, null, worldSize + 1, 0, false), worldSize);
        }
        return cells;
    }

    /** Returns cells of a kind at a length: in two types; for a kind that combines, in three, and averages in two. */
    public static List<Cell> ofLength(CollectiveKind kind, int worldSize, int length) {
        return ofLengths(kind, worldSize, type -> length);
    }

    /** Returns cells as {@link #ofLength}, of this number of bytes, or twice as many, and three more elements. */
    public static List<Cell> above(CollectiveKind kind, int worldSize, int bytes) {
        return ofLengths(kind, worldSize, type -> bytes / Math.min(type.byteSize(), Float.BYTES) + 3);
    }

    /** Returns a cell of each kind in f32 at a length, and of a rooted kind one for each root. */
    public static List<Cell> withEachRoot(int worldSize, int length) {
        List<Cell> cells = new ArrayList<>();
        for (CollectiveKind kind : KINDS) {
            ReduceOp op = combines(kind) ? ReduceOp.SUM : null;
            for (int root = 0; root < (kind.isRooted() ? worldSize : 1); root++) {
                cells.add(new Cell(kind, DataType.FLOAT32, op, length, root, false));
            }
        }
        return cells;
    }

    private static List<Cell> ofLengths(CollectiveKind kind, int worldSize, ToIntFunction<DataType> length) {
        List<Cell> cells = new ArrayList<>();
        List<DataType> types = combines(kind)
                ? List.of(DataType.FLOAT32, DataType.INT64, DataType.BFLOAT16)
                : List.of(DataType.FLOAT32, DataType.INT64);
        for (DataType type : types) {
            ReduceOp op = combines(kind) ? ReduceOp.SUM : null;
            cells.add(new Cell(kind, type, op, length.applyAsInt(type), cells.size() % worldSize, false));
        }
        // one number and two numbers of 64 bits for each element
        for (DataType type : combines(kind) ? List.of(DataType.UINT8, DataType.INT64) : List.<DataType>of()) {
            cells.add(new Cell(kind, type, ReduceOp.AVG, length.applyAsInt(type), cells.size() % worldSize, true));
        }
        return cells;
    }

    /** Returns whether a kind takes an operation. */
    public static boolean combines(CollectiveKind kind) {
        return kind == CollectiveKind.ALL_REDUCE
                || kind == CollectiveKind.REDUCE
                || kind == CollectiveKind.REDUCE_SCATTER;
    }

    private static void add(List<Cell> cells, Cell plain, int worldSize) {
        List<ReduceOp> ops = new ArrayList<>();
        if (combines(plain.kind)) {
            ops.addAll(OPS);
        } else {
            ops.add(null);
        }
        boolean bothPlaces = plain.kind != CollectiveKind.BROADCAST && plain.kind != CollectiveKind.ALL_TO_ALL;
        for (ReduceOp op : ops) {
            for (boolean inPlace : bothPlaces ? new boolean[] {false, true} : new boolean[] {false}) {
                cells.add(new Cell(plain.kind, plain.type, op, plain.length, cells.size() % worldSize, inPlace));
            }
        }
    }

    @Override
    public String toString() {
        String rooted = kind.isRooted() ? " root " + root : "";
        return kind + " " + type.label() + (op == null ? "" : " " + op) + " length " + length + rooted
                + (inPlace ? " in place" : "");
    }
}

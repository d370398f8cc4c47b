package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.DataType;
import ferro.ReduceOp;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * One call to check, with the same parameters on every rank.
 *
 * @param kind    kind of the collective, as {@link ferro.Collective#kind()} returns it
 * @param type    type of the elements
 * @param op      op of a reduction; null for a kind that only moves data
 * @param length  number of elements of the operand, or of one rank's part for a kind with parts
 * @param root    root of a rooted kind
 * @param inPlace whether input and output share memory
 * @param unequal whether the lengths of the parts differ. If the lengths differ, every third part is empty, and any
 *     other part has {@code length} elements times its position. The position of a rank's part depends on length and
 *     root
 */
public record Cell(
        CollectiveKind kind, DataType type, ReduceOp op, int length, int root, boolean inPlace, boolean unequal) {
    /** Types that are checked at every length. A back end must support these types or declare that it refuses them. */
    private static final List<DataType> AT_ALL_LENGTHS =
            List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64);

    /** Types that are checked at one length only. Errors that depend on the length do not depend on the type. */
    private static final List<DataType> AT_ONE_LENGTH = List.of(
            DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64, DataType.FLOAT16, DataType.BFLOAT16);

    /** All kinds of collectives that have data. */
    public static final List<CollectiveKind> KINDS = CallFactory.kinds(kind -> kind.in() != DataShare.NONE);

    static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG);

    /** The ops of a scan. A scan has no average. */
    private static final List<ReduceOp> OPS_OF_SCANS =
            List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    /** Creates a cell whose parts have equal lengths. */
    public Cell(CollectiveKind kind, DataType type, ReduceOp op, int length, int root, boolean inPlace) {
        this(kind, type, op, length, root, inPlace, false);
    }

    /** Returns the lengths of the parts of a rank's input. In an all-to-all, part j goes to rank j. */
    long[] inCounts(int rank, int worldSize) {
        return IntStream.range(0, worldSize)
                .mapToLong(to -> count(rank, to, worldSize))
                .toArray();
    }

    /** Returns the lengths of the parts of a rank's output. In an all-to-all, part j comes from rank j. */
    long[] outCounts(int rank, int worldSize) {
        return IntStream.range(0, worldSize)
                .mapToLong(part ->
                        kind == CollectiveKind.ALL_TO_ALL ? count(part, rank, worldSize) : count(rank, part, worldSize))
                .toArray();
    }

    private int count(int from, int to, int worldSize) {
        // the empty parts and the longest part are on other ranks for another length or root
        int turned = (to + length + root) % worldSize;
        int position = kind == CollectiveKind.ALL_TO_ALL ? (2 * from + to) % (worldSize + 2) : turned;
        return unequal ? unequal(position, length) : length;
    }

    /** Returns the length of the part at a position, if parts are unequal. */
    static int unequal(int position, int length) {
        return position % 3 == 1 ? 0 : (position + 1) * length;
    }

    /**
     * Returns all cells of a kind. The cells combine every type and op with the lengths 0 and 1 and with lengths near
     * the world size. A call that can work in place has a cell in place and a cell in separate memory. The root changes
     * from cell to cell. The types of {@link #AT_ONE_LENGTH} have the longest length only.
     */
    public static List<Cell> of(CollectiveKind kind, int worldSize) {
        List<Cell> cells = new ArrayList<>();
        for (int length : lengths(worldSize)) {
            for (DataType type : AT_ALL_LENGTHS) {
                add(cells, new Cell(kind, type, null, length, 0, false), worldSize);
            }
        }
        for (DataType type : AT_ONE_LENGTH) {
            add(cells, new Cell(kind, type, null, worldSize + 1, 0, false), worldSize);
        }
        return cells;
    }

    /**
     * Returns a selection of the cells of {@link #of}. At the longest length, each type is combined with each op. At
     * each other length, each type and each op occurs, but not in all combinations. Two cells in
     * separate memory and two cells in place take turns.
     */
    public static List<Cell> selected(CollectiveKind kind, int worldSize) {
        List<Cell> cells = new ArrayList<>();
        List<ReduceOp> ops = ops(kind);
        for (int length : lengths(worldSize)) {
            for (int type = 0; type < AT_ALL_LENGTHS.size(); type++) {
                boolean isLongest = length == worldSize + 1;
                int op = (type + length) % ops.size();
                for (ReduceOp each : isLongest ? ops : ops.subList(op, op + 1)) {
                    select(cells, new Cell(kind, AT_ALL_LENGTHS.get(type), each, length, 0, false), worldSize);
                }
            }
        }
        for (DataType type : AT_ONE_LENGTH) {
            for (ReduceOp op : ops) {
                select(cells, new Cell(kind, type, op, worldSize + 1, 0, false), worldSize);
            }
        }
        return cells;
    }

    /** Adds a cell with the next root. Two cells in separate memory and two cells in place take turns. */
    private static void select(List<Cell> cells, Cell plain, int worldSize) {
        int number = cells.size();
        // turns of four cells would pair each of the four ops of a scan with one kind of memory
        int turn = plain.kind.isScan() ? number + number / OPS_OF_SCANS.size() : number;
        boolean inPlace = worksInPlace(plain.kind) && turn / 2 % 2 == 1;
        // not the root of the cell that is a world size earlier, which is in place too if the world size is a multiple
        // of 4
        int root = (number + number / worldSize) % worldSize;
        cells.add(new Cell(plain.kind, plain.type, plain.op, plain.length, root, inPlace));
    }

    /** Returns the lengths in an order that is the same in all processes. */
    private static Set<Integer> lengths(int worldSize) {
        return new LinkedHashSet<>(List.of(0, 1, worldSize - 1, worldSize, worldSize + 1));
    }

    /** Returns the ops of a collective kind. For a kind that does not reduce, the list contains only null. */
    private static List<ReduceOp> ops(CollectiveKind kind) {
        if (kind.isScan()) {
            return OPS_OF_SCANS;
        }
        return kind.combines() ? OPS : Collections.singletonList(null);
    }

    /** Returns whether input and output of a kind may share memory. A broadcast always has one tensor. */
    static boolean mayBeInPlace(CollectiveKind kind) {
        return kind.in() != DataShare.NONE && kind != CollectiveKind.ALL_TO_ALL;
    }

    /** Returns whether a call of a kind has an input and an output that may share memory. */
    public static boolean worksInPlace(CollectiveKind kind) {
        return mayBeInPlace(kind) && !CallFactory.isOneTensor(kind);
    }

    private static boolean[] memories(CollectiveKind kind) {
        return worksInPlace(kind) ? new boolean[] {false, true} : new boolean[] {false};
    }

    /**
     * Returns the cells of a kind at one length. A collective that only moves data has cells with two element types. A
     * reduction has cells with sums of three element types, and cells with averages of two element types.
     */
    public static List<Cell> ofLength(CollectiveKind kind, int worldSize, int length) {
        return ofLengths(kind, worldSize, type -> length);
    }

    /**
     * Returns the cells of {@link #ofLength} with three more elements than fit into {@code bytes}. Types of 64 bits
     * have as many elements as types of 32 bits.
     */
    public static List<Cell> above(CollectiveKind kind, int worldSize, int bytes) {
        return ofLengths(kind, worldSize, type -> bytes / Math.min(type.byteSize(), Float.BYTES) + 3);
    }

    /**
     * Returns the cells with parts of unequal length, in separate memory and in place. A reduce-scatter also has averages
     * of i32, whose sums exceed the range of the type.
     */
    public static List<Cell> ofUnequalParts(int worldSize, int length) {
        List<Cell> cells = new ArrayList<>();
        int root = worldSize - 1;
        for (CollectiveKind kind : CallFactory.kinds(CollectiveKind::hasParts)) {
            for (boolean inPlace : memories(kind)) {
                ReduceOp op = kind.combines() ? ReduceOp.SUM : null;
                cells.add(new Cell(kind, DataType.FLOAT64, op, length, root, inPlace, true));
                if (kind.combines()) {
                    cells.add(new Cell(kind, DataType.INT32, ReduceOp.AVG, length, root, inPlace, true));
                }
            }
        }
        return cells;
    }

    /**
     * Returns the cells of a user-defined reduction. Each kind has one cell in place. A kind with parts also has a cell
     * with equal parts and a cell with unequal parts, both in separate memory.
     */
    public static List<Cell> ofUsersOp(List<CollectiveKind> kinds, DataType type, ReduceOp op, int length, int root) {
        List<Cell> cells = new ArrayList<>();
        for (CollectiveKind kind : kinds) {
            cells.add(new Cell(kind, type, op, length, root, !kind.hasParts()));
            if (kind.hasParts()) {
                cells.add(new Cell(kind, type, op, length, root, false, true));
            }
        }
        return cells;
    }

    /** Returns one cell of each kind in f32 at one length. A rooted kind has one cell for each root. */
    public static List<Cell> withEachRoot(int worldSize, int length) {
        List<Cell> cells = new ArrayList<>();
        for (CollectiveKind kind : KINDS) {
            ReduceOp op = kind.combines() ? ReduceOp.SUM : null;
            for (int root = 0; root < (kind.isRooted() ? worldSize : 1); root++) {
                cells.add(new Cell(kind, DataType.FLOAT32, op, length, root, false));
            }
        }
        return cells;
    }

    private static List<Cell> ofLengths(CollectiveKind kind, int worldSize, ToIntFunction<DataType> length) {
        List<Cell> cells = new ArrayList<>();
        List<DataType> types = kind.combines()
                ? List.of(DataType.FLOAT32, DataType.INT64, DataType.BFLOAT16)
                : List.of(DataType.FLOAT32, DataType.INT64);
        for (DataType type : types) {
            ReduceOp op = kind.combines() ? ReduceOp.SUM : null;
            cells.add(new Cell(kind, type, op, length.applyAsInt(type), cells.size() % worldSize, false));
        }
        // the sums of these averages need one and two 64-bit numbers for each element
        boolean averages = kind.combines() && !kind.isScan();
        for (DataType type : averages ? List.of(DataType.UINT8, DataType.INT64) : List.<DataType>of()) {
            cells.add(new Cell(kind, type, ReduceOp.AVG, length.applyAsInt(type), cells.size() % worldSize, true));
        }
        return cells;
    }

    private static void add(List<Cell> cells, Cell plain, int worldSize) {
        for (ReduceOp op : ops(plain.kind)) {
            for (boolean inPlace : memories(plain.kind)) {
                cells.add(new Cell(plain.kind, plain.type, op, plain.length, cells.size() % worldSize, inPlace));
            }
        }
    }

    @Override
    public String toString() {
        String rooted = kind.isRooted() ? " root " + root : "";
        return kind + " " + type.label() + (op == null ? "" : " " + op) + " length " + length + rooted
                + (inPlace ? " in place" : "") + (unequal ? " in unequal parts" : "");
    }
}

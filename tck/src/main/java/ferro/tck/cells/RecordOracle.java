package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BinaryOperator;

/**
 * User-defined reductions of records of bytes. If a record is split, or begins at a wrong byte, the result differs. An
 * op that does not commute shows which ranks were combined, and in which order.
 */
public final class RecordOracle implements Oracle {
    /** Reductions with ops that do not commute. The ops are matrix products, which wrap around, and joined texts. */
    public static final List<RecordOracle> ORDERED = List.of(
            new RecordOracle("matrices", true, 4 * Long.BYTES, RecordOracle::matrix, RecordOracle::product),
            new RecordOracle("texts", true, 64, RecordOracle::text, RecordOracle::joinedTexts));

    private static final int BYTE = 0xFF;

    private final int bytes;
    private final RecordSource record;
    private final BinaryOperator<byte[]> join;
    private final boolean isOrdered;
    private final ReduceOp op;

    /** The records of the ranks. */
    @FunctionalInterface
    private interface RecordSource {
        byte[] of(int rank, int index);
    }

    private RecordOracle(String name, boolean isOrdered, int bytes, RecordSource record, BinaryOperator<byte[]> join) {
        this.bytes = bytes;
        this.record = record;
        this.join = join;
        this.isOrdered = isOrdered;
        ReduceOp combine = ReduceOp.ofBytes(name, bytes, this::combine);
        this.op = isOrdered ? ReduceOp.ordered(combine) : combine;
    }

    /** Returns sums of integers of {@code bytes} bytes, lowest byte first. The highest carry is dropped. */
    public static RecordOracle integers(int bytes) {
        RecordSource record = (rank, index) -> integer(rank, index * bytes, bytes);
        return new RecordOracle("long integers", false, bytes, record, RecordOracle::sum);
    }

    /** Returns the reduction that combines these records. */
    public ReduceOp op() {
        return op;
    }

    /** Returns the size of a record in bytes. */
    public int bytes() {
        return bytes;
    }

    private static byte[] integer(int rank, int first, int bytes) {
        byte[] integer = new byte[bytes];
        for (int at = 0; at < bytes; at++) {
            int mixed = (first + at + 1) * 0x9E3779B1 ^ (rank + 7) * 0x85EBCA77;
            // most bytes are large, so that a carry changes many bytes
            integer[at] = (byte) (mixed >>> 29 == 0 ? mixed >>> 8 : BYTE - (mixed >>> 27 & 1) * rank);
        }
        return integer;
    }

    private static byte[] sum(byte[] left, byte[] right) {
        byte[] sum = new byte[left.length];
        int carry = 0;
        for (int at = 0; at < sum.length; at++) {
            carry = (carry >> Byte.SIZE) + (left[at] & BYTE) + (right[at] & BYTE);
            sum[at] = (byte) carry;
        }
        return sum;
    }

    /** Returns a record that is a matrix of two by two long integers. */
    private static byte[] matrix(int rank, int index) {
        ByteBuffer matrix = buffer(new byte[4 * Long.BYTES]);
        for (int at = 0; at < 4; at++) {
            matrix.putLong(3 + 7L * rank + (at + index) % 5 * (at + 2));
        }
        return matrix.array();
    }

    private static byte[] product(byte[] left, byte[] right) {
        ByteBuffer product = buffer(new byte[left.length]);
        for (int row = 0; row < 2; row++) {
            for (int column = 0; column < 2; column++) {
                product.putLong(at(left, row, 0) * at(right, 0, column) + at(left, row, 1) * at(right, 1, column));
            }
        }
        return product.array();
    }

    private static ByteBuffer buffer(byte[] matrix) {
        return ByteBuffer.wrap(matrix).order(ByteOrder.nativeOrder());
    }

    private static long at(byte[] matrix, int row, int column) {
        return buffer(matrix).getLong((2 * row + column) * Long.BYTES);
    }

    /** Returns a byte with the length of a text, and then the text of at most 63 bytes. */
    private static byte[] text(int rank, int index) {
        return textOf((char) ('a' + rank) + Integer.toString(index % 100));
    }

    private static byte[] textOf(String text) {
        byte[] record = new byte[64];
        byte[] content = text.getBytes(StandardCharsets.US_ASCII);
        record[0] = (byte) content.length;
        System.arraycopy(content, 0, record, 1, content.length);
        return record;
    }

    private static byte[] joinedTexts(byte[] left, byte[] right) {
        return textOf(content(left) + content(right));
    }

    private static String content(byte[] record) {
        return new String(record, 1, record[0], StandardCharsets.US_ASCII);
    }

    private void combine(ByteBuffer into, ByteBuffer received) {
        if (into.position() != 0 || into.limit() != received.limit() || into.limit() % bytes != 0) {
            throw new IllegalArgumentException("buffers of " + bytes + "-byte records: " + into + ", " + received);
        }
        byte[] left = new byte[bytes];
        byte[] right = new byte[bytes];
        for (int begin = 0; begin < into.limit(); begin += bytes) {
            into.get(begin, left);
            received.get(begin, right);
            into.put(begin, join.apply(left, right));
        }
    }

    /** Returns the reductions of {@code count} records of each rank. For an ordered op, also returns the scans. */
    public List<Cell> cells(int count, int root) {
        List<CollectiveKind> kinds = CallFactory.kinds(kind -> kind.combines() && (isOrdered || !kind.isScan()));
        DataType type = isOrdered || bytes % 2 == 1 ? DataType.INT8 : DataType.UINT8;
        return Cell.ofUsersOp(kinds, type, op, count * bytes, root);
    }

    @Override
    public long[] elements(CollectiveKind kind, int rank, int from, int count) {
        return joined(new CallFactory.RankSpan(rank, rank + 1), from, count);
    }

    @Override
    public ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp reduction, int from, int count) {
        CallFactory.RankSpan some = ranks.isEmpty() ? new CallFactory.RankSpan(0, 1) : ranks;
        return ExpectedElements.exactly(joined(some, from, count));
    }

    /** Joins the records of some ranks, in the order of the ranks. */
    private long[] joined(CallFactory.RankSpan ranks, int from, int count) {
        long[] all = new long[count];
        for (int begin = 0; begin < count; begin += bytes) {
            byte[] result = record.of(ranks.from(), (from + begin) / bytes);
            for (int rank = ranks.from() + 1; rank < ranks.to(); rank++) {
                result = join.apply(result, record.of(rank, (from + begin) / bytes));
            }
            for (int at = 0; at < bytes; at++) {
                all[begin + at] = result[at];
            }
        }
        return all;
    }
}

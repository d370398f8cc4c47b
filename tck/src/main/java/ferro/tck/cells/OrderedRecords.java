package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** Records with an op that does not commute. The result of the op shows which ranks it has combined, in which order. */
public enum OrderedRecords implements Oracle {
    /** Matrices of two by two long integers, which are multiplied. Products wrap around. */
    MATRICES(4 * Long.BYTES) {
        @Override
        byte[] record(int rank, int index) {
            ByteBuffer record = of(new byte[4 * Long.BYTES]);
            for (int at = 0; at < 4; at++) {
                record.putLong(3 + 7L * rank + (at + index) % 5 * (at + 2));
            }
            return record.array();
        }

        @Override
        byte[] joined(byte[] left, byte[] right) {
            ByteBuffer one = of(left);
            ByteBuffer other = of(right);
            ByteBuffer product = of(new byte[left.length]);
            for (int row = 0; row < 2; row++) {
                for (int column = 0; column < 2; column++) {
                    product.putLong(at(one, row, 0) * at(other, 0, column) + at(one, row, 1) * at(other, 1, column));
                }
            }
            return product.array();
        }
    },
    /** Texts of at most 63 bytes behind a byte with their length, which are joined. */
    TEXTS(64) {
        @Override
        byte[] record(int rank, int index) {
            return textOf((char) ('a' + rank) + Integer.toString(index % 100));
        }

        @Override
        byte[] joined(byte[] left, byte[] right) {
            return textOf(text(left) + text(right));
        }
    };

    private final int bytes;
    private final ReduceOp op;

    OrderedRecords(int bytes) {
        this.bytes = bytes;
        this.op = ReduceOp.ordered(ReduceOp.ofBytes(name().toLowerCase(Locale.ROOT), bytes, this::combine));
    }

    abstract byte[] record(int rank, int index);

    abstract byte[] joined(byte[] left, byte[] right);

    private static ByteBuffer of(byte[] record) {
        return ByteBuffer.wrap(record).order(ByteOrder.nativeOrder());
    }

    private static long at(ByteBuffer matrix, int row, int column) {
        return matrix.getLong((2 * row + column) * Long.BYTES);
    }

    private static byte[] textOf(String text) {
        byte[] record = new byte[64];
        byte[] content = text.getBytes(StandardCharsets.US_ASCII);
        record[0] = (byte) content.length;
        System.arraycopy(content, 0, record, 1, content.length);
        return record;
    }

    private static String text(byte[] record) {
        return new String(record, 1, record[0], StandardCharsets.US_ASCII);
    }

    private void combine(ByteBuffer into, ByteBuffer received) {
        byte[] left = new byte[bytes];
        byte[] right = new byte[bytes];
        for (int begin = 0; begin < into.limit(); begin += bytes) {
            into.get(begin, left);
            received.get(begin, right);
            into.put(begin, joined(left, right));
        }
    }

    /** Returns the size of a record. */
    public int bytes() {
        return bytes;
    }

    /** Returns the calls on {@code count} records: every reduction, with parts of equal and unequal length. */
    public List<Cell> cells(int count, int root) {
        return Cell.ofUsersOp(Calls.kinds(CollectiveKind::combines), DataType.INT8, op, count * bytes, root);
    }

    @Override
    public long[] elements(CollectiveKind kind, int rank, int from, int count) {
        return joined(new Calls.RankSpan(rank, rank + 1), from, count);
    }

    @Override
    public ExpectedElements reduced(Calls.RankSpan ranks, ReduceOp reduction, int from, int count) {
        Calls.RankSpan some = ranks.isEmpty() ? new Calls.RankSpan(0, 1) : ranks;
        return ExpectedElements.exactly(joined(some, from, count));
    }

    /** Joins the records of some ranks, one rank after the other. */
    private long[] joined(Calls.RankSpan ranks, int from, int count) {
        long[] all = new long[count];
        for (int begin = 0; begin < count; begin += bytes) {
            byte[] result = record(ranks.from(), (from + begin) / bytes);
            for (int rank = ranks.from() + 1; rank < ranks.to(); rank++) {
                result = joined(result, record(rank, (from + begin) / bytes));
            }
            for (int at = 0; at < bytes; at++) {
                all[begin + at] = result[at];
            }
        }
        return all;
    }
}

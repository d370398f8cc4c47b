package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/** Records with an op that does not commute. The result of the op shows which ranks it has combined, in which order. */
public enum OrderedRecords {
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

    /**
     * A call with its expected result.
     *
     * @param call  operation
     * @param out   result of this rank; null if it has none
     * @param right expected bytes of {@code out}
     */
    public record OrderedCall(Collective call, byte[] out, byte[] right) {
        /** Returns a description of the first wrong record, or null if the result is right. */
        public String wrong() {
            int wrong = out == null ? -1 : Arrays.mismatch(out, right);
            return wrong < 0 ? null : call.kind() + ": byte " + wrong + " is " + out[wrong] + ", need " + right[wrong];
        }
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

    /** Returns the calls of one rank on {@code count} records: every reduction, with parts of equal and unequal length. */
    public List<OrderedCall> calls(int rank, int worldSize, int count, int root) {
        List<OrderedCall> calls = new ArrayList<>();
        long[] unequal = new long[worldSize];
        Arrays.setAll(unequal, part -> (long) bytes * count * (part % 3));
        for (CollectiveKind kind : Calls.kinds(CollectiveKind::combines)) {
            if (kind.hasParts()) {
                long[] equal = new long[worldSize];
                Arrays.fill(equal, (long) bytes * count);
                calls.add(scattered(kind, rank, equal, new long[0]));
                calls.add(scattered(kind, rank, unequal, unequal));
            } else {
                byte[] data = operand(rank, count);
                Calls.RankSpan ranks = Calls.combined(kind, rank, worldSize);
                boolean stays = ranks.isEmpty() || !kind.out().has(rank == root);
                byte[] right = stays ? data.clone() : right(ranks, 0, count);
                calls.add(new OrderedCall(Calls.of(kind, tensor(data), tensor(data), op, root), data, right));
            }
        }
        return calls;
    }

    private OrderedCall scattered(CollectiveKind kind, int rank, long[] lengths, long[] counts) {
        int first = (int) LongStream.of(lengths).limit(rank).sum() / bytes;
        byte[] out = new byte[(int) lengths[rank]];
        HostTensor in = tensor(operand(rank, (int) LongStream.of(lengths).sum() / bytes));
        byte[] right = right(new Calls.RankSpan(0, lengths.length), first, out.length / bytes);
        return new OrderedCall(Calls.of(kind, in, tensor(out), op, -1, counts), out, right);
    }

    private static HostTensor tensor(byte[] bytes) {
        return HostTensor.of(bytes);
    }

    private byte[] operand(int rank, int count) {
        ByteBuffer all = ByteBuffer.allocate(count * bytes);
        for (int index = 0; index < count; index++) {
            all.put(record(rank, index));
        }
        return all.array();
    }

    /** Joins the records of some ranks, one rank after the other. */
    private byte[] right(Calls.RankSpan ranks, int first, int count) {
        ByteBuffer all = ByteBuffer.allocate(count * bytes);
        for (int index = first; index < first + count; index++) {
            byte[] result = record(ranks.from(), index);
            for (int rank = ranks.from() + 1; rank < ranks.to(); rank++) {
                result = joined(result, record(rank, index));
            }
            all.put(result);
        }
        return all.array();
    }
}

package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * User-defined reductions of records. A record is one long integer, whose lowest byte is the first. The reductions add
 * such integers and drop the highest carry. If a record is split, or begins at a wrong byte, the result differs, because
 * a carry goes from byte to byte.
 */
public final class UserRecords implements Oracle {
    private static final int BYTE = 0xFF;

    private final int recordBytes;
    private final ReduceOp op;

    /** Creates the reduction of records of {@code recordBytes} bytes. */
    public UserRecords(int recordBytes) {
        this.recordBytes = recordBytes;
        this.op = ReduceOp.ofBytes("long integers", recordBytes, (into, received) -> add(into, received, recordBytes));
    }

    /** Returns the reduction of these records. */
    public ReduceOp op() {
        return op;
    }

    private static void add(ByteBuffer into, ByteBuffer received, int recordBytes) {
        if (into.position() != 0 || into.limit() != received.limit() || into.limit() % recordBytes != 0) {
            throw new IllegalArgumentException(
                    "buffers of " + recordBytes + "-byte records: " + into + ", " + received);
        }
        for (int begin = 0; begin < into.limit(); begin += recordBytes) {
            int carry = 0;
            for (int at = begin; at < begin + recordBytes; at++) {
                carry += (into.get(at) & BYTE) + (received.get(at) & BYTE);
                into.put(at, (byte) carry);
                carry >>= Byte.SIZE;
            }
        }
    }

    /** Returns the reductions of {@code records} records of each rank, with the last rank as root. */
    public List<Cell> cells(int records, int worldSize) {
        return Cell.ofUsersOp(
                Calls.kinds(kind -> kind.combines() && !kind.isScan()),
                recordBytes % 2 == 0 ? DataType.UINT8 : DataType.INT8,
                op,
                records * recordBytes,
                worldSize - 1);
    }

    @Override
    public long[] elements(CollectiveKind kind, int rank, int from, int count) {
        long[] elements = new long[count];
        for (int at = 0; at < count; at++) {
            elements[at] = element(rank, from + at);
        }
        return elements;
    }

    private static byte element(int ofRank, int index) {
        int mixed = (index + 1) * 0x9E3779B1 ^ (ofRank + 7) * 0x85EBCA77;
        // most bytes are large, so that carries go far
        return (byte) (mixed >>> 29 == 0 ? mixed >>> 8 : BYTE - (mixed >>> 27 & 1) * ofRank);
    }

    @Override
    public ExpectedElements reduced(Calls.RankSpan ranks, ReduceOp reduction, int from, int count) {
        long[] sums = new long[count];
        int carry = 0;
        for (int at = 0; at < count; at++) {
            carry = at % recordBytes == 0 ? 0 : carry >> Byte.SIZE;
            for (int rank = ranks.from(); rank < ranks.to(); rank++) {
                carry += element(rank, from + at) & BYTE;
            }
            sums[at] = (byte) carry;
        }
        return ExpectedElements.exactly(sums);
    }
}

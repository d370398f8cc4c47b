package ferro.tck.cells;

import ferro.Collective;
import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * User-defined reductions of records. A record is one long integer, whose lowest byte is the first. The reductions add
 * such integers and drop the highest carry. If a record is split, or begins at a wrong byte, the result differs, because
 * a carry goes from byte to byte.
 */
public final class UserRecords {
    private static final int BYTE = 0xFF;
    /** A rank whose part is empty, a rank whose part is longest, and others in between. */
    private static final int[] UNEQUAL = {3, 0, 11, 1, 2, 5, 4, 7};
    /** If this many bytes are multiplied with a number of {@link #UNEQUAL}, the number is at most 2. */
    private static final int LARGE_BYTES = 32 << 10;

    private final int recordBytes;
    private final ReduceOp op;
    private final DataType type;
    private final int worldSize;
    private final int rank;

    /**
     * Makes the calls of one rank.
     *
     * @param recordBytes size of a record
     * @param worldSize   number of ranks
     * @param rank        this rank
     */
    public UserRecords(int recordBytes, int worldSize, int rank) {
        this.recordBytes = recordBytes;
        this.op = ReduceOp.ofBytes("long integers", recordBytes, (into, received) -> add(into, received, recordBytes));
        this.type = recordBytes % 2 == 0 ? DataType.UINT8 : DataType.INT8;
        this.worldSize = worldSize;
        this.rank = rank;
    }

    /**
     * A call, and the bytes of the joined operands from which its result begins.
     *
     * @param call  call on records
     * @param out   result of this rank; null if it has none
     * @param first first byte of the result among all bytes of the operands
     */
    public record RecordCall(Collective call, Operand out, int first) {}

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

    /**
     * Returns the calls on so many records: all-reduce, reduce, and reduce-scatter with parts of equal and unequal length.
     *
     * @param records number of records of each rank in the all-reduce
     * @param number  number that selects the memory of the operands
     */
    public List<RecordCall> calls(int records, int number) {
        Operand all = operand(records * recordBytes, number);
        Operand root = operand(records * recordBytes, number + 1);
        Operand full = operand(records * worldSize * recordBytes, number + 2);
        Operand part = Operand.unwritten(type, records * recordBytes, Operand.OperandMemory.of(number + rank));
        long[] counts = counts(records);
        Operand parts = operand((int) Arrays.stream(counts).sum(), number + 3);
        Operand own = Operand.unwritten(type, (int) counts[rank], Operand.OperandMemory.of(number + rank + 1));
        int last = worldSize - 1;
        return List.of(
                new RecordCall(Collective.allReduce(all.tensor(), all.tensor(), op), all, 0),
                new RecordCall(
                        Collective.reduce(root.tensor(), root.tensor(), op, last), rank == last ? root : null, 0),
                new RecordCall(Collective.reduceScatter(full.tensor(), part.tensor(), op), part, rank * part.length()),
                new RecordCall(Collective.reduceScatter(parts.tensor(), own.tensor(), op, counts), own, (int)
                        Arrays.stream(counts, 0, rank).sum()));
    }

    private long[] counts(int records) {
        long[] counts = new long[worldSize];
        int maxFactor = records * recordBytes >= LARGE_BYTES ? 2 : Integer.MAX_VALUE;
        for (int part = 0; part < worldSize; part++) {
            int factor = Math.min(UNEQUAL[(part + records) % UNEQUAL.length], maxFactor);
            counts[part] = (long) factor * records * recordBytes;
        }
        return counts;
    }

    private Operand operand(int length, int number) {
        Operand operand = Operand.unwritten(type, length, Operand.OperandMemory.of(number + rank));
        return operand.fill(index -> element(rank, index));
    }

    private static int element(int ofRank, int index) {
        int mixed = (index + 1) * 0x9E3779B1 ^ (ofRank + 7) * 0x85EBCA77;
        // most bytes are large, so that carries go far
        return mixed >>> 29 == 0 ? mixed >>> 8 & BYTE : BYTE - (mixed >>> 27 & 1) * ofRank;
    }

    /**
     * Compares the result of a call with a plain loop.
     *
     * @param made call that has ended
     */
    public void check(RecordCall made) {
        if (made.out == null) {
            return;
        }
        long[] found = made.out.bits();
        for (int begin = 0; begin < found.length; begin += recordBytes) {
            int carry = 0;
            for (int at = begin; at < begin + recordBytes; at++) {
                for (int each = 0; each < worldSize; each++) {
                    carry += element(each, made.first + at) & BYTE;
                }
                if ((carry & BYTE) != (found[at] & BYTE)) {
                    throw new AssertionError(made.call.kind() + " of " + recordBytes + "-byte records on rank " + rank
                            + " of " + worldSize + ": byte " + (at - begin) + " of record " + begin / recordBytes
                            + " is " + (found[at] & BYTE) + ", need " + (carry & BYTE));
                }
                carry >>= Byte.SIZE;
            }
        }
        if (!made.out.guardsHold()) {
            throw new AssertionError("memory outside the " + found.length + " bytes was written on rank " + rank);
        }
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import ferro.RecordCombine;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A kernel that calls a user's code for records of bytes. Both operands are copied into direct buffers of one block,
 * from index 0 on. So native code of the user gets one kind of memory, and can write only to these buffers.
 */
final class RecordKernel extends Kernel {
    /** Bytes per block: few enough for two blocks and all other data in the first-level cache. */
    private static final int BLOCK_BYTES = 8192;

    private final DataType type;
    private final ReduceOp op;
    private final RecordCombine code;
    private final int record;
    private final int block;
    private final ByteBuffer left;
    private final ByteBuffer right;

    RecordKernel(DataType type, ReduceOp op) {
        this.type = type;
        this.op = op;
        this.code = op.recordCombine();
        this.record = op.recordElements();
        this.block = Math.max(1, BLOCK_BYTES / record) * record;
        this.left = ByteBuffer.allocateDirect(block).order(ByteOrder.nativeOrder());
        this.right = ByteBuffer.allocateDirect(block).order(ByteOrder.nativeOrder());
    }

    @Override
    public int recordElements() {
        return record;
    }

    @Override
    public void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        for (long done = 0; done < count; done += block) {
            int length = combineBlock(into, intoOffset + done, source, sourceOffset + done, count - done);
            Elements.copy(type, into, intoOffset + done, left, 0, length);
        }
    }

    @Override
    public void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        for (long done = 0; done < count; done += block) {
            int length = combineBlock(first, firstOffset + done, second, secondOffset + done, count - done);
            Elements.copy(type, first, firstOffset + done, left, 0, length);
            Elements.copy(type, second, secondOffset + done, left, 0, length);
        }
    }

    /** Combines the next records into {@link #left}, and returns their bytes. */
    private int combineBlock(Object into, long intoOffset, Object source, long sourceOffset, long rest) {
        int length = (int) Math.min(block, rest);
        if (length % record != 0) {
            throw new IllegalStateException("reduction " + op.name() + ": found " + length + " bytes to combine, need"
                    + " a multiple of " + record);
        }
        Elements.copy(type, left, 0, into, intoOffset, length);
        Elements.copy(type, right, 0, source, sourceOffset, length);
        try {
            code.combine(left.clear().limit(length), right.clear().limit(length));
        } catch (RuntimeException | Error thrown) {
            throw UserFailures.failure(op, type, thrown);
        } finally {
            left.clear();
            right.clear();
        }
        return length;
    }
}

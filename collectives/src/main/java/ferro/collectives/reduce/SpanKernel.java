package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;

/**
 * A kernel that calls a user's code for arrays. Both operands are copied into arrays of one block, from index 0 on, for
 * the reasons that {@link BlockKernel} gives. So the user's code gets one kind of memory and can write only to the
 * arrays of one block.
 */
final class SpanKernel extends Kernel {
    /**
     * Bytes per block: few enough for two blocks and all other data in the first-level cache, enough that one call per
     * block costs little.
     */
    private static final int BLOCK_BYTES = 4096;

    private final DataType type;
    private final Carrier carrier;
    private final ReduceOp op;
    private final ReduceOp.SpanCombine<Object> code;
    private final int block;
    private final Object left;
    private final Object right;
    private final Views leftViews;
    private final Views rightViews;

    @SuppressWarnings("unchecked") // the op has checked that its code takes arrays of this element type
    SpanKernel(DataType type, ReduceOp op) {
        this.type = type;
        this.carrier = type.carrier();
        this.op = op;
        this.code = (ReduceOp.SpanCombine<Object>) op.span();
        this.block = BLOCK_BYTES / type.byteSize();
        this.left = carrier.newArray(block);
        this.right = carrier.newArray(block);
        this.leftViews = new Views(type);
        this.rightViews = new Views(type);
    }

    @Override
    public void combine(Object into, long intoOffset, Object source, long sourceOffset, long count) {
        long intoUnit = unit(into);
        long sourceUnit = unit(source);
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            long at = intoOffset + done * intoUnit;
            load(into, at, left, leftViews, length);
            load(source, sourceOffset + done * sourceUnit, right, rightViews, length);
            combineBlocks(length);
            store(into, at, leftViews, length);
        }
    }

    @Override
    public void combineBoth(Object first, long firstOffset, Object second, long secondOffset, long count) {
        long firstUnit = unit(first);
        long secondUnit = unit(second);
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            long firstAt = firstOffset + done * firstUnit;
            long secondAt = secondOffset + done * secondUnit;
            load(first, firstAt, left, leftViews, length);
            load(second, secondAt, right, rightViews, length);
            combineBlocks(length);
            store(first, firstAt, leftViews, length);
            store(second, secondAt, rightViews, length);
        }
    }

    private void combineBlocks(int length) {
        try {
            code.combine(left, right, length);
        } catch (RuntimeException | Error thrown) {
            throw UserFailures.failure(op, type, thrown);
        }
    }

    private void load(Object memory, long offset, Object into, Views views, int length) {
        if (memory instanceof ByteBuffer bytes) {
            carrier.get(views.at(bytes, offset), views.index(offset), into, 0, length);
        } else {
            System.arraycopy(memory, Math.toIntExact(offset), into, 0, length);
        }
    }

    private void store(Object memory, long offset, Views views, int length) {
        if (memory instanceof ByteBuffer bytes) {
            carrier.put(views.at(bytes, offset), views.index(offset), left, 0, length);
        } else {
            System.arraycopy(left, 0, memory, Math.toIntExact(offset), length);
        }
    }

    private long unit(Object memory) {
        return memory instanceof ByteBuffer ? type.byteSize() : 1;
    }
}

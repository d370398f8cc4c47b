package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import ferro.RecordCombine;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A kernel that calls a user's code. For code for arrays or records, both operands are copied into arrays or direct
 * buffers of one block, from index 0 on. {@link BlockKernel} gives the reasons for copying. Code for arrays or records
 * therefore always receives the same kind of memory, and can write only to the blocks. Code for tensors receives views
 * that are made for each call.
 */
final class UserKernel extends Kernel {
    /**
     * Bytes per block of arrays. Two blocks and all other data fit into the first-level cache, and one call per block
     * costs little.
     */
    private static final int ARRAY_BYTES = 4096;

    /** Bytes per block of records. Two blocks and all other data fit into the first-level cache. */
    private static final int RECORD_BYTES = 8192;

    private final DataType type;
    private final ReduceOp op;
    private final int record;
    /** The user's code for blocks; null if the code takes tensors. */
    private final ReduceOp.SpanCombine<Object> code;

    private final int block;
    private final Object left;
    private final Object right;
    private final ElementCopier intoCopies = new ElementCopier();
    private final ElementCopier sourceCopies = new ElementCopier();

    @SuppressWarnings("unchecked") // the op has checked that its code takes arrays of this element type
    UserKernel(DataType type, ReduceOp op) {
        super(type.byteSize());
        this.type = type;
        this.op = op;
        this.record = op.recordElements();
        RecordCombine records = op.recordCombine();
        if (records != null) {
            this.code =
                    (into, received, bytes) -> combineRecords(records, (ByteBuffer) into, (ByteBuffer) received, bytes);
            this.block = Math.max(1, RECORD_BYTES / record) * record;
            this.left = ByteBuffer.allocateDirect(block).order(ByteOrder.nativeOrder());
            this.right = ByteBuffer.allocateDirect(block).order(ByteOrder.nativeOrder());
        } else {
            this.code = (ReduceOp.SpanCombine<Object>) op.span();
            this.block = code == null ? 0 : ARRAY_BYTES / type.byteSize();
            this.left = type.carrier().newArray(block);
            this.right = type.carrier().newArray(block);
        }
    }

    private static void combineRecords(RecordCombine code, ByteBuffer into, ByteBuffer received, int bytes) {
        try {
            code.combine(into.clear().limit(bytes), received.clear().limit(bytes));
        } finally {
            into.clear();
            received.clear();
        }
    }

    @Override
    public int recordElements() {
        return record;
    }

    @Override
    void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
        if (code == null) {
            combineTensors(into, intoOffset, source, sourceOffset, count, both);
            return;
        }
        for (long done = 0; done < count; done += block) {
            int length = (int) Math.min(block, count - done);
            if (length % record != 0) {
                throw new IllegalStateException("reduction " + op.name() + ": found " + length
                        + " bytes to combine, need a multiple of " + record);
            }
            long at = at(into, intoOffset, done);
            long sourceAt = at(source, sourceOffset, done);
            intoCopies.copy(type, left, 0, into, at, length);
            sourceCopies.copy(type, right, 0, source, sourceAt, length);
            try {
                code.combine(left, right, length);
            } catch (RuntimeException | Error thrown) {
                throw failure(thrown);
            }
            intoCopies.copy(type, into, at, left, 0, length);
            if (both) {
                sourceCopies.copy(type, source, sourceAt, left, 0, length);
            }
        }
    }

    private void combineTensors(
            Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
        if (count == 0) {
            return;
        }
        HostTensor own = tensor(into, intoOffset, count);
        HostTensor received = tensor(source, sourceOffset, count);
        try {
            op.combiner().combine(own, received);
        } catch (RuntimeException | Error thrown) {
            throw failure(thrown);
        }
        if (both) {
            sourceCopies.copy(type, source, sourceOffset, into, intoOffset, count);
        }
    }

    private HostTensor tensor(Object memory, long offset, long count) {
        int length = Math.toIntExact(count);
        int at = Math.toIntExact(offset);
        if (memory instanceof ByteBuffer bytes) {
            ByteBuffer run = bytes.duplicate().order(ByteOrder.nativeOrder());
            return HostTensor.of(type, run.limit(at + length * type.byteSize()).position(at));
        }
        return HostTensor.ofArray(type, memory, at, length);
    }

    /**
     * Returns an exception that names the reduction, when a user's code has thrown an exception. The group fails with
     * the text of the returned exception. An {@code OutOfMemoryError} is thrown unchanged.
     */
    private RuntimeException failure(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError memory) {
            throw memory;
        }
        return new IllegalStateException(
                "the code of reduction " + op.name() + " threw on elements of " + type.label() + ": " + thrown, thrown);
    }
}

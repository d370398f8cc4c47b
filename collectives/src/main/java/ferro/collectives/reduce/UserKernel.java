package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import ferro.HostTensor;
import ferro.RecordCombine;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A kernel that calls a user's code. */
abstract class UserKernel extends Kernel {
    final DataType type;
    final ReduceOp op;

    private UserKernel(DataType type, ReduceOp op) {
        this.type = type;
        this.op = op;
    }

    /** Returns a kernel for the arguments that the code of an op takes. */
    static Kernel of(DataType type, ReduceOp op) {
        if (op.recordCombine() != null) {
            return new OfRecords(type, op);
        }
        return op.span() == null ? new OfTensors(type, op) : new OfArrays(type, op);
    }

    /**
     * Returns an exception that names the reduction, for an exception of a user's code; the group then fails with its
     * text. An {@code OutOfMemoryError} is thrown unchanged.
     */
    final RuntimeException failure(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError memory) {
            throw memory;
        }
        return new IllegalStateException(
                "the code of reduction " + op.name() + " threw on elements of " + type.label() + ": " + thrown, thrown);
    }

    /** A kernel for tensors. The code gets views that are made for each call. */
    private static final class OfTensors extends UserKernel {
        OfTensors(DataType type, ReduceOp op) {
            super(type, op);
        }

        @Override
        void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
            if (count == 0) {
                return;
            }
            HostTensor left = view(into, intoOffset, count);
            HostTensor right = view(source, sourceOffset, count);
            try {
                op.combiner().combine(left, right);
            } catch (RuntimeException | Error thrown) {
                throw failure(thrown);
            }
            if (both) {
                Elements.copy(type, source, sourceOffset, into, intoOffset, count);
            }
        }

        private HostTensor view(Object memory, long offset, long count) {
            int length = Math.toIntExact(count);
            int at = Math.toIntExact(offset);
            if (memory instanceof ByteBuffer bytes) {
                int end = at + length * type.byteSize();
                return HostTensor.of(
                        type,
                        bytes.duplicate()
                                .order(ByteOrder.nativeOrder())
                                .limit(end)
                                .position(at));
            }
            return HostTensor.ofArray(type, memory, at, length);
        }
    }

    /**
     * A kernel for arrays. Both operands are copied into arrays of one block, from index 0 on, for the reasons that
     * {@link BlockKernel} gives. So the user's code gets one kind of memory and can write only to the arrays of one
     * block.
     */
    private static final class OfArrays extends UserKernel {
        /**
         * Bytes per block: few enough for two blocks and all other data in the first-level cache, enough that one call
         * per block costs little.
         */
        private static final int BLOCK_BYTES = 4096;

        private final Carrier carrier;
        private final ReduceOp.SpanCombine<Object> code;
        private final int block;
        private final Object left;
        private final Object right;
        private final Views leftViews;
        private final Views rightViews;

        @SuppressWarnings("unchecked") // the op has checked that its code takes arrays of this element type
        OfArrays(DataType type, ReduceOp op) {
            super(type, op);
            this.carrier = type.carrier();
            this.code = (ReduceOp.SpanCombine<Object>) op.span();
            this.block = BLOCK_BYTES / type.byteSize();
            this.left = carrier.newArray(block);
            this.right = carrier.newArray(block);
            this.leftViews = new Views(type);
            this.rightViews = new Views(type);
        }

        @Override
        void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
            long intoUnit = unit(into);
            long sourceUnit = unit(source);
            for (long done = 0; done < count; done += block) {
                int length = (int) Math.min(block, count - done);
                long at = intoOffset + done * intoUnit;
                long sourceAt = sourceOffset + done * sourceUnit;
                load(into, at, left, leftViews, length);
                load(source, sourceAt, right, rightViews, length);
                try {
                    code.combine(left, right, length);
                } catch (RuntimeException | Error thrown) {
                    throw failure(thrown);
                }
                store(into, at, leftViews, length);
                if (both) {
                    store(source, sourceAt, rightViews, length);
                }
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

    /**
     * A kernel for records of bytes. Both operands are copied into direct buffers of one block, from index 0 on. So
     * native code of the user gets one kind of memory, and can write only to these buffers.
     */
    private static final class OfRecords extends UserKernel {
        /** Bytes per block: few enough for two blocks and all other data in the first-level cache. */
        private static final int BLOCK_BYTES = 8192;

        private final RecordCombine code;
        private final int record;
        private final int block;
        private final ByteBuffer left;
        private final ByteBuffer right;

        OfRecords(DataType type, ReduceOp op) {
            super(type, op);
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
        void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
            for (long done = 0; done < count; done += block) {
                int length = combineBlock(into, intoOffset + done, source, sourceOffset + done, count - done);
                Elements.copy(type, into, intoOffset + done, left, 0, length);
                if (both) {
                    Elements.copy(type, source, sourceOffset + done, left, 0, length);
                }
            }
        }

        /** Combines the next records into {@link #left}, and returns their bytes. */
        private int combineBlock(Object into, long intoOffset, Object source, long sourceOffset, long rest) {
            int length = (int) Math.min(block, rest);
            if (length % record != 0) {
                throw new IllegalStateException("reduction " + op.name() + ": found " + length
                        + " bytes to combine, need a multiple of " + record);
            }
            Elements.copy(type, left, 0, into, intoOffset, length);
            Elements.copy(type, right, 0, source, sourceOffset, length);
            try {
                code.combine(left.clear().limit(length), right.clear().limit(length));
            } catch (RuntimeException | Error thrown) {
                throw failure(thrown);
            } finally {
                left.clear();
                right.clear();
            }
            return length;
        }
    }
}

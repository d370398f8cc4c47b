package ferro.collectives.engine;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Region;
import ferro.collectives.reduce.IntegerSums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Additional work of an operation on the caller's memory, before and after the collective of the operation. The work
 * is done at the position of the operation in the order of operations.
 */
interface OperandStager {
    /** Returns the operand, made when the results of all earlier operations are complete. */
    HostTensor operand();

    /**
     * Returns the memory into which the collective writes its result, or null. The operation calls this method
     * after {@link #operand}.
     */
    HostTensor result();

    /** Copies the result to the caller's memory. */
    void deliver();

    /**
     * The result of rank 0 in an exclusive scan with a built-in op: the identity of the op. Rank 0 writes the result
     * after rank 0 has sent its operand, because operand and result may be the same memory.
     */
    record IdentityStager(ReduceOp op, HostTensor in, HostTensor out) implements OperandStager {
        private static final int BLOCK_BYTES = 2048;

        @Override
        public HostTensor operand() {
            return in;
        }

        @Override
        public HostTensor result() {
            return out;
        }

        @Override
        public void deliver() {
            DataType type = out.dataType();
            long count = out.elementCount();
            int block = (int) Math.min(count, BLOCK_BYTES / type.byteSize());
            HostTensor elements = elements(type, bits(type, op), block);
            for (long done = 0; done < count; done += block) {
                out.copyFrom(done, elements, 0, Math.min(block, count - done));
            }
        }

        private static HostTensor elements(DataType type, long bits, int count) {
            int size = type.byteSize();
            ByteBuffer bytes = ByteBuffer.allocateDirect(count * size).order(ByteOrder.nativeOrder());
            boolean lowFirst = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
            for (int at = 0; at < bytes.limit(); at++) {
                int index = lowFirst ? at % size : size - 1 - at % size;
                bytes.put(at, (byte) (bits >>> Byte.SIZE * index));
            }
            return HostTensor.of(type, bytes);
        }

        /** Returns the bits of the identity of an op, in the low bytes of the long. */
        static long bits(DataType type, ReduceOp op) {
            if (!type.isFloating()) {
                return ofIntegers(type, op);
            }
            double value = op == ReduceOp.PRODUCT
                    ? 1
                    : op == ReduceOp.MIN ? Double.POSITIVE_INFINITY : op == ReduceOp.MAX ? Double.NEGATIVE_INFINITY : 0;
            return switch (type.byteSize()) {
                case Short.BYTES -> HalfFloats.narrow(type, (float) value);
                case Float.BYTES -> Float.floatToRawIntBits((float) value);
                default -> Double.doubleToRawLongBits(value);
            };
        }

        private static long ofIntegers(DataType type, ReduceOp op) {
            long sign = 1L << Byte.SIZE * type.byteSize() - 1;
            if (op == ReduceOp.MIN) {
                return type.isUnsigned() ? -1 : sign - 1;
            }
            if (op == ReduceOp.MAX) {
                return type.isUnsigned() ? 0 : sign;
            }
            return op == ReduceOp.BAND ? -1 : op == ReduceOp.PRODUCT ? 1 : 0;
        }
    }

    /**
     * The additional work of operations that average integers. When an average begins at its position in the order, it
     * copies its operand to wider integers. The collective sums the copy in place. After the collective, the average
     * divides the sums and writes the averages to the result. Staged operations run one at a time, so one buffer is
     * enough for a group. Only the thread that makes progress uses this object.
     */
    final class AverageStager {
        /**
         * Maximum length of the buffer that is kept for later operations. A longer operand gets a new buffer, whose
         * allocation is cheap compared with the operation.
         */
        private static final int MAX_LONGS_KEPT = 1 << 17;

        private final int rank;
        private final int worldSize;
        private long[] kept = {};

        AverageStager(int rank, int worldSize) {
            this.rank = rank;
            this.worldSize = worldSize;
        }

        /**
         * Returns the additional work of an average. {@code own} is staging that is done before and after this work, or
         * null.
         */
        OperandStager of(PreparedCall prepared, HostTensor in, HostTensor out, OperandStager own) {
            return new SumStager(prepared, in, out, own);
        }

        private long[] buffer(long elements) {
            int longs = Math.toIntExact(elements);
            if (longs > MAX_LONGS_KEPT) {
                return new long[longs];
            }
            if (kept.length < longs) {
                kept = new long[Math.min(MAX_LONGS_KEPT, 2 * longs)];
            }
            return kept;
        }

        private final class SumStager implements OperandStager {
            private final PreparedCall prepared;
            private final HostTensor in;
            private final HostTensor out;
            private final OperandStager own;
            private long[] sums;

            SumStager(PreparedCall prepared, HostTensor in, HostTensor out, OperandStager own) {
                this.prepared = prepared;
                this.in = in;
                this.out = out;
                this.own = own;
            }

            @Override
            public HostTensor operand() {
                HostTensor given = own == null ? in : own.operand();
                long elements = prepared.carriedParts.elements();
                sums = buffer(elements);
                IntegerSums.widen(given, sums);
                return HostTensor.of(DataType.INT64, sums, 0, (int) elements);
            }

            @Override
            public HostTensor result() {
                if (out == null) {
                    return null;
                }
                int count = Math.toIntExact(out.elementCount() * IntegerSums.longsPerElement(prepared.type));
                return HostTensor.of(DataType.INT64, sums, first(), count);
            }

            /**
             * Returns the index in the operand at which the result begins: for a reduce-scatter the index of this
             * rank's part, else 0.
             */
            private int first() {
                boolean scatters = prepared.kind == CollectiveKind.REDUCE_SCATTER;
                return scatters ? (int) prepared.carriedParts.start(Region.IN, rank, worldSize) : 0;
            }

            @Override
            public void deliver() {
                if (out != null) {
                    IntegerSums.divide(sums, first(), worldSize, out);
                }
                if (own != null) {
                    own.deliver();
                }
            }
        }
    }
}

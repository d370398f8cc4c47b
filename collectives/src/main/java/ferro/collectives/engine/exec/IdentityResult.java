package ferro.collectives.engine.exec;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.engine.operands.Prepared;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The result of rank 0 in an exclusive scan with a built-in op: the identity of the op. Rank 0 writes the result after
 * its operand is sent, because operand and result may be the same memory.
 *
 * @param op  built-in op
 * @param in  operand
 * @param out result
 */
record IdentityResult(ReduceOp op, HostTensor in, HostTensor out) implements Operation.OperandStaging {
    private static final int BLOCK_BYTES = 2048;

    /** Returns whether an operation of a rank has this result. */
    static boolean isNeeded(Prepared prepared, int rank) {
        return rank == 0 && prepared.kind == CollectiveKind.EXCLUSIVE_SCAN && prepared.op.combiner() == null;
    }

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

    /** Returns the bits of the identity, in the low bytes. */
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

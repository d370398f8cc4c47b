package ferro.benchmarks.gpu;

import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Elements of every type, and what reductions must make of them; small whole numbers, which every type holds exactly. */
final class Samples {
    /** Every type that NCCL knows and ferro has. */
    static final List<DataType> TYPES = List.of(
            DataType.INT8,
            DataType.UINT8,
            DataType.INT32,
            DataType.UINT32,
            DataType.INT64,
            DataType.UINT64,
            DataType.FLOAT16,
            DataType.BFLOAT16,
            DataType.FLOAT32,
            DataType.FLOAT64);

    private Samples() {}

    /** Element of a rank's operand: 2 to 6, neither 0 nor 1, different between neighbours and ranks. */
    static double operand(int rank, long index) {
        return 2 + (index * 3 + rank * 2L) % 5;
    }

    /** Element of the reduction over all ranks. */
    static double reduced(ReduceOp op, int ranks, long index) {
        double value = operand(0, index);
        for (int rank = 1; rank < ranks; rank++) {
            double other = operand(rank, index);
            value = switch (op.name()) {
                case "product" -> value * other;
                case "min" -> Math.min(value, other);
                case "max" -> Math.max(value, other);
                default -> value + other;
            };
        }
        return op == ReduceOp.AVG ? value / ranks : value;
    }

    /** Ops that NCCL has for a type: an average of whole numbers would be rounded. */
    static List<ReduceOp> ops(DataType type) {
        List<ReduceOp> plain = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);
        return isReal(type) ? List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG) : plain;
    }

    private static boolean isReal(DataType type) {
        return switch (type) {
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> true;
            default -> false;
        };
    }

    static ByteBuffer memory(DataType type, long count) {
        return ByteBuffer.allocateDirect(Math.toIntExact(count * type.byteSize()))
                .order(ByteOrder.nativeOrder());
    }

    static void put(ByteBuffer to, DataType type, int index, double value) {
        int at = index * type.byteSize();
        switch (type) {
            case INT8, UINT8 -> to.put(at, (byte) value);
            case INT16 -> to.putShort(at, (short) value);
            case INT32, UINT32 -> to.putInt(at, (int) value);
            case INT64, UINT64 -> to.putLong(at, (long) value);
            case FLOAT16 -> to.putShort(at, (short) half((float) value));
            case BFLOAT16 -> to.putShort(at, (short) (Float.floatToIntBits((float) value) >>> 16));
            case FLOAT32 -> to.putFloat(at, (float) value);
            case FLOAT64 -> to.putDouble(at, value);
        }
    }

    static double at(ByteBuffer from, DataType type, int index) {
        int at = index * type.byteSize();
        return switch (type) {
            case INT8 -> from.get(at);
            case UINT8 -> Byte.toUnsignedInt(from.get(at));
            case INT16 -> from.getShort(at);
            case INT32, UINT32 -> from.getInt(at);
            case INT64, UINT64 -> from.getLong(at);
            case FLOAT16 -> whole(Short.toUnsignedInt(from.getShort(at)));
            case BFLOAT16 -> Float.intBitsToFloat(Short.toUnsignedInt(from.getShort(at)) << 16);
            case FLOAT32 -> from.getFloat(at);
            case FLOAT64 -> from.getDouble(at);
        };
    }

    /** IEEE binary16 of a number that it holds exactly, none of them subnormal: 5 bits of exponent, bias 15. */
    private static int half(float value) {
        int bits = Float.floatToIntBits(value);
        if (value == 0) {
            return bits >>> 16;
        }
        int exponent = (bits >>> 23 & 0xff) - 127 + 15;
        return bits >>> 16 & 0x8000 | exponent << 10 | bits >>> 13 & 0x3ff;
    }

    private static double whole(int half) {
        int exponent = half >>> 10 & 0x1f;
        double magnitude =
                exponent == 0 ? (half & 0x3ff) * 0x1p-24 : (1 + (half & 0x3ff) / 1024.0) * Math.pow(2, exponent - 15.0);
        return (half & 0x8000) == 0 ? magnitude : -magnitude;
    }
}

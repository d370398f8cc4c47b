package ferro.benchmarks.gpu;

import ferro.DataType;
import ferro.ReduceOp;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Elements of every type and the expected results of reductions. They are small whole numbers, which every type holds
 * exactly.
 */
final class Samples {
    /** Memory layout of an element of each type, for every type that NCCL knows and ferro has. */
    private static final Map<DataType, SampleForm> FORMS = forms();

    /** Every type that NCCL knows and ferro has. */
    static final List<DataType> TYPES = List.copyOf(FORMS.keySet());

    private Samples() {}

    /** Returns an element of a rank's operand: 2 to 6, never 0 or 1, different between adjacent elements and ranks. */
    static double operand(int rank, long index) {
        return 2 + (index * 3 + rank * 2L) % 5;
    }

    /** Returns an element of the reduction over all ranks. */
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

    /** Returns the ops to check for a type: an average of whole numbers would be rounded. */
    static List<ReduceOp> ops(DataType type) {
        List<ReduceOp> plain = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);
        return type.isFloating()
                ? List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG)
                : plain;
    }

    static ByteBuffer memory(DataType type, long count) {
        return ByteBuffer.allocateDirect(Math.toIntExact(count * type.byteSize()))
                .order(ByteOrder.nativeOrder());
    }

    static void put(ByteBuffer to, DataType type, int index, double value) {
        FORMS.get(type).put().put(to, index * type.byteSize(), value);
    }

    static double at(ByteBuffer from, DataType type, int index) {
        return FORMS.get(type).at().at(from, index * type.byteSize());
    }

    /** Writes an element. */
    private interface Put {
        void put(ByteBuffer to, int at, double value);
    }

    /** Reads an element. */
    private interface At {
        double at(ByteBuffer from, int at);
    }

    /** The writer and the reader for one type. */
    private record SampleForm(Put put, At at) {}

    private static Map<DataType, SampleForm> forms() {
        SampleForm ints = new SampleForm((to, at, value) -> to.putInt(at, (int) value), ByteBuffer::getInt);
        SampleForm longs = new SampleForm((to, at, value) -> to.putLong(at, (long) value), ByteBuffer::getLong);
        Map<DataType, SampleForm> forms = new EnumMap<>(DataType.class);
        forms.put(DataType.INT8, new SampleForm((to, at, value) -> to.put(at, (byte) value), ByteBuffer::get));
        forms.put(
                DataType.UINT8,
                new SampleForm(
                        (to, at, value) -> to.put(at, (byte) value), (from, at) -> Byte.toUnsignedInt(from.get(at))));
        forms.put(DataType.INT32, ints);
        forms.put(DataType.UINT32, ints);
        forms.put(DataType.INT64, longs);
        forms.put(DataType.UINT64, longs);
        forms.put(
                DataType.FLOAT16,
                new SampleForm(
                        (to, at, value) -> to.putShort(at, (short) half((float) value)),
                        (from, at) -> whole(Short.toUnsignedInt(from.getShort(at)))));
        forms.put(
                DataType.BFLOAT16,
                new SampleForm(
                        (to, at, value) -> to.putShort(at, (short) (Float.floatToIntBits((float) value) >>> 16)),
                        (from, at) -> Float.intBitsToFloat(Short.toUnsignedInt(from.getShort(at)) << 16)));
        forms.put(
                DataType.FLOAT32,
                new SampleForm((to, at, value) -> to.putFloat(at, (float) value), ByteBuffer::getFloat));
        forms.put(DataType.FLOAT64, new SampleForm(ByteBuffer::putDouble, ByteBuffer::getDouble));
        return forms;
    }

    /**
     * Returns the IEEE binary16 of a number that it holds exactly; none is subnormal. It has 5 bits of exponent, bias 15.
     */
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

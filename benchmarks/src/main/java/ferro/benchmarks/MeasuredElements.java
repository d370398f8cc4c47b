package ferro.benchmarks;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** An array of one of the measured types, filled and compared element by element. */
record MeasuredElements(HostTensor tensor) {
    /**
     * The measured types, in the order in which users see them. Unsigned types are absent, because Java cannot compute
     * with them.
     */
    static final List<DataType> TYPES = List.of(
            DataType.FLOAT32,
            DataType.FLOAT64,
            DataType.FLOAT16,
            DataType.BFLOAT16,
            DataType.INT8,
            DataType.INT16,
            DataType.INT32,
            DataType.INT64);

    /** An eighth of a first-level cache. */
    private static final int REPEATED_BYTES = 4096;

    static MeasuredElements of(DataType type, int count) {
        if (!TYPES.contains(type)) {
            throw new IllegalArgumentException("type " + type.label() + " is not measured");
        }
        return new MeasuredElements(HostTensor.ofArray(type, type.carrier().newArray(count), 0, count));
    }

    void put(int index, long value) {
        fill(index, index + 1, value);
    }

    /** Sets all elements to a number. */
    void fill(int value) {
        fill(0, (int) tensor.elementCount(), value);
    }

    private void fill(int from, int to, long value) {
        switch (tensor.dataType()) {
            case FLOAT32 -> Arrays.fill((float[]) tensor.memory(), from, to, value);
            case FLOAT64 -> Arrays.fill((double[]) tensor.memory(), from, to, value);
            case INT8 -> Arrays.fill((byte[]) tensor.memory(), from, to, (byte) value);
            case INT16 -> Arrays.fill((short[]) tensor.memory(), from, to, (short) value);
            case INT32 -> Arrays.fill((int[]) tensor.memory(), from, to, (int) value);
            case INT64 -> Arrays.fill((long[]) tensor.memory(), from, to, value);
            default -> Arrays.fill((short[]) tensor.memory(), from, to, HalfFloats.narrow(tensor.dataType(), value));
        }
    }

    /** Whether the element is that of a plain loop. Integers wrap; floating point may be rounded in another order. */
    boolean is(int index, Expectation.Value expected) {
        double real = expected.real();
        return switch (tensor.dataType()) {
            case FLOAT32 -> near(tensor.getFloat(index), real, 1e-5);
            case FLOAT64 -> near(tensor.getDouble(index), real, 1e-13);
            case FLOAT16 -> near(HalfFloats.widen(tensor.dataType(), tensor.getShort(index)), real, 1e-2);
            case BFLOAT16 -> near(HalfFloats.widen(tensor.dataType(), tensor.getShort(index)), real, 5e-2);
            case INT8 -> tensor.getByte(index) == (byte) expected.whole();
            case INT16 -> tensor.getShort(index) == (short) expected.whole();
            case INT32 -> tensor.getInt(index) == (int) expected.whole();
            default -> tensor.getLong(index) == expected.whole();
        };
    }

    /** Compares with a tolerance of some units of the last place. */
    private static boolean near(double found, double expected, double tolerance) {
        return Math.abs(found - expected) <= tolerance * Math.abs(expected);
    }

    /** Writes all elements to the start of a buffer. */
    void copyTo(ByteBuffer bytes) {
        tensor.dataType().carrier().write(bytes, 0, tensor.memory(), 0, (int) tensor.elementCount());
    }

    /**
     * Writes as many elements as these to the start of a buffer, the first few again and again: what is read stays in the
     * cache, so that it takes as long as {@link #fill}.
     */
    void fillFromFirst(ByteBuffer bytes) {
        int count = (int) tensor.elementCount();
        int unit = tensor.dataType().byteSize();
        int block = Math.min(count, REPEATED_BYTES / unit);
        for (int done = 0; done < count; done += block) {
            int length = Math.min(block, count - done);
            tensor.dataType().carrier().write(bytes, done * unit, tensor.memory(), 0, length);
        }
    }

    /** Reads all elements from the start of a buffer. */
    void copyFrom(ByteBuffer bytes) {
        tensor.dataType().carrier().read(bytes, 0, tensor.memory(), 0, (int) tensor.elementCount());
    }
}

package ferro.benchmarks;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntFunction;

/** An array of one of the measured types, filled and compared element by element. */
sealed interface MeasuredElements {
    /**
     * Constructors for arrays of the measured types, in the order in which users see them. Unsigned types are absent,
     * because Java cannot compute with them.
     */
    Map<DataType, IntFunction<MeasuredElements>> MEASURED = measured();

    /** An eighth of a first-level cache. */
    int REPEATED_BYTES = 4096;

    private static Map<DataType, IntFunction<MeasuredElements>> measured() {
        Map<DataType, IntFunction<MeasuredElements>> all = new LinkedHashMap<>();
        all.put(DataType.FLOAT32, count -> new Floats(new float[count]));
        all.put(DataType.FLOAT64, count -> new Doubles(new double[count]));
        all.put(DataType.FLOAT16, count -> new Halves(DataType.FLOAT16, new short[count], 1e-2));
        all.put(DataType.BFLOAT16, count -> new Halves(DataType.BFLOAT16, new short[count], 5e-2));
        all.put(DataType.INT8, count -> new Bytes(new byte[count]));
        all.put(DataType.INT16, count -> new Shorts(new short[count]));
        all.put(DataType.INT32, count -> new Ints(new int[count]));
        all.put(DataType.INT64, count -> new Longs(new long[count]));
        return Collections.unmodifiableMap(all);
    }

    static MeasuredElements of(DataType type, int count) {
        IntFunction<MeasuredElements> found = MEASURED.get(type);
        if (found == null) {
            throw new IllegalArgumentException("type " + type.label() + " is not measured");
        }
        return found.apply(count);
    }

    HostTensor tensor();

    void put(int index, long value);

    /** Whether the element is that of a plain loop. Integers wrap; floating point may be rounded in another order. */
    boolean is(int index, Expectation.Value expected);

    /** Sets all elements to a number. */
    void fill(int value);

    /** Writes all elements to the start of a buffer. */
    default void copyTo(ByteBuffer bytes) {
        HostTensor all = tensor();
        all.dataType().carrier().write(bytes, 0, all.memory(), 0, (int) all.elementCount());
    }

    /**
     * Writes as many elements as these to the start of a buffer, the first few again and again: what is read stays in the
     * cache, so that it takes as long as {@link #fill}.
     */
    default void fillFromFirst(ByteBuffer bytes) {
        HostTensor all = tensor();
        int count = (int) all.elementCount();
        int unit = all.dataType().byteSize();
        int block = Math.min(count, REPEATED_BYTES / unit);
        for (int done = 0; done < count; done += block) {
            int length = Math.min(block, count - done);
            all.dataType().carrier().write(bytes, done * unit, all.memory(), 0, length);
        }
    }

    /** Reads all elements from the start of a buffer. */
    default void copyFrom(ByteBuffer bytes) {
        HostTensor all = tensor();
        all.dataType().carrier().read(bytes, 0, all.memory(), 0, (int) all.elementCount());
    }

    private static boolean near(double found, double expected, double tolerance) {
        return Math.abs(found - expected) <= tolerance * Math.abs(expected);
    }

    /** Elements of f32. */
    record Floats(float[] array) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.of(array);
        }

        @Override
        public void put(int index, long value) {
            array[index] = value;
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return near(array[index], expected.real(), 1e-5);
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, value);
        }
    }

    /** Elements of f64. */
    record Doubles(double[] array) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.of(array);
        }

        @Override
        public void put(int index, long value) {
            array[index] = value;
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return near(array[index], expected.real(), 1e-13);
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, value);
        }
    }

    /**
     * Elements of f16 or bf16.
     *
     * @param tolerance some units of the last place, relative
     */
    record Halves(DataType type, short[] array, double tolerance) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.ofArray(type, array, 0, array.length);
        }

        @Override
        public void put(int index, long value) {
            array[index] = HalfFloats.narrow(type, value);
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return near(HalfFloats.widen(type, array[index]), expected.real(), tolerance);
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, HalfFloats.narrow(type, value));
        }
    }

    /** Elements of i8. */
    record Bytes(byte[] array) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.of(array);
        }

        @Override
        public void put(int index, long value) {
            array[index] = (byte) value;
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return array[index] == (byte) expected.whole();
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, (byte) value);
        }
    }

    /** Elements of i16. */
    record Shorts(short[] array) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.of(array);
        }

        @Override
        public void put(int index, long value) {
            array[index] = (short) value;
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return array[index] == (short) expected.whole();
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, (short) value);
        }
    }

    /** Elements of i32. */
    record Ints(int[] array) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.of(array);
        }

        @Override
        public void put(int index, long value) {
            array[index] = (int) value;
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return array[index] == (int) expected.whole();
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, value);
        }
    }

    /** Elements of i64. */
    record Longs(long[] array) implements MeasuredElements {
        @Override
        public HostTensor tensor() {
            return HostTensor.of(array);
        }

        @Override
        public void put(int index, long value) {
            array[index] = value;
        }

        @Override
        public boolean is(int index, Expectation.Value expected) {
            return array[index] == expected.whole();
        }

        @Override
        public void fill(int value) {
            Arrays.fill(array, value);
        }
    }
}

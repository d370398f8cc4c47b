package ferro.benchmarks;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** An array of one of the types that are measured, filled and compared element by element. */
sealed interface Elements {
    static Elements of(DataType type, int count) {
        return switch (type) {
            case FLOAT32 -> new Floats(new float[count]);
            case FLOAT64 -> new Doubles(new double[count]);
            case INT8 -> new Bytes(new byte[count]);
            case INT16 -> new Shorts(new short[count]);
            case INT32 -> new Ints(new int[count]);
            case INT64 -> new Longs(new long[count]);
            default -> throw new IllegalArgumentException("type " + type.label() + " is not measured");
        };
    }

    HostTensor tensor();

    void put(int index, long value);

    /** Whether the element is what a plain loop gives; integers wrap, floating point may round in another order. */
    boolean is(int index, Expectation.Value expected);

    /** Makes all elements this number. */
    void fill(int value);

    /** Writes all elements to the start of a buffer. */
    void copyTo(ByteBuffer bytes);

    /** Reads all elements from the start of a buffer. */
    void copyFrom(ByteBuffer bytes);

    private static boolean near(double found, double expected, double tolerance) {
        return Math.abs(found - expected) <= tolerance * Math.abs(expected);
    }

    /** Of f32. */
    record Floats(float[] array) implements Elements {
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

        @Override
        public void copyTo(ByteBuffer bytes) {
            bytes.asFloatBuffer().put(array);
        }

        @Override
        public void copyFrom(ByteBuffer bytes) {
            bytes.asFloatBuffer().get(array);
        }
    }

    /** Of f64. */
    record Doubles(double[] array) implements Elements {
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

        @Override
        public void copyTo(ByteBuffer bytes) {
            bytes.asDoubleBuffer().put(array);
        }

        @Override
        public void copyFrom(ByteBuffer bytes) {
            bytes.asDoubleBuffer().get(array);
        }
    }

    /** Of i8. */
    record Bytes(byte[] array) implements Elements {
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

        @Override
        public void copyTo(ByteBuffer bytes) {
            bytes.duplicate().put(array);
        }

        @Override
        public void copyFrom(ByteBuffer bytes) {
            bytes.duplicate().get(array);
        }
    }

    /** Of i16. */
    record Shorts(short[] array) implements Elements {
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

        @Override
        public void copyTo(ByteBuffer bytes) {
            bytes.asShortBuffer().put(array);
        }

        @Override
        public void copyFrom(ByteBuffer bytes) {
            bytes.asShortBuffer().get(array);
        }
    }

    /** Of i32. */
    record Ints(int[] array) implements Elements {
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

        @Override
        public void copyTo(ByteBuffer bytes) {
            bytes.asIntBuffer().put(array);
        }

        @Override
        public void copyFrom(ByteBuffer bytes) {
            bytes.asIntBuffer().get(array);
        }
    }

    /** Of i64. */
    record Longs(long[] array) implements Elements {
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

        @Override
        public void copyTo(ByteBuffer bytes) {
            bytes.asLongBuffer().put(array);
        }

        @Override
        public void copyFrom(ByteBuffer bytes) {
            bytes.asLongBuffer().get(array);
        }
    }
}

package ferro.benchmarks;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * An array of a measured type, with methods that fill it and compare single elements.
 *
 * @param tensor  the array
 * @param element buffer for the bytes of one element, least significant first
 * @param view    view of {@code element} that has the type of the array
 */
record MeasuredTensor(HostTensor tensor, ByteBuffer element, Buffer view) {
    /**
     * The measured types, in the order in which the help text lists them. Unsigned types are absent, because Java
     * cannot compute with them.
     */
    static final List<DataType> TYPES = Stream.of("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64")
            .map(DataType::parse)
            .toList();

    /** Largest allowed relative errors by type, each of some units in the last place. */
    private static final Map<DataType, Double> TOLERANCES =
            Map.of(DataType.FLOAT32, 1e-5, DataType.FLOAT64, 1e-13, DataType.FLOAT16, 1e-2, DataType.BFLOAT16, 5e-2);

    /** Size of the data that {@link #fillFromFirst} repeats, an eighth of a first-level cache. */
    private static final int REPEATED_BYTES = 4096;

    static MeasuredTensor of(DataType type, int count) {
        if (!TYPES.contains(type)) {
            throw new IllegalArgumentException("type " + type.label() + " is not measured");
        }
        HostTensor tensor = HostTensor.ofArray(type, type.carrier().newArray(count), 0, count);
        ByteBuffer element = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return new MeasuredTensor(tensor, element, type.carrier().view(element));
    }

    void put(int index, long value) {
        DataType type = tensor.dataType();
        element.putLong(0, value);
        if (type.isFloating()) {
            switch (type.byteSize()) {
                case Double.BYTES -> element.putDouble(0, value);
                case Float.BYTES -> element.putFloat(0, value);
                default -> element.putShort(0, HalfFloats.narrow(type, value));
            }
        }
        type.carrier().get(view, 0, tensor.memory(), index, 1);
    }

    /** Sets all elements to a number. */
    void fill(int value) {
        int count = (int) tensor.elementCount();
        int block = REPEATED_BYTES / tensor.dataType().byteSize();
        if (count > 0) {
            put(0, value);
        }
        for (int done = 1, length; done < count; done += length) {
            length = Math.min(Math.min(done, block), count - done);
            System.arraycopy(tensor.memory(), 0, tensor.memory(), done, length);
        }
    }

    /** Returns whether an element is right. Integers wrap around. Floating-point sums may be rounded differently. */
    boolean is(int index, ExpectedResult.ElementValue expected) {
        DataType type = tensor.dataType();
        type.carrier().put(view, 0, tensor.memory(), index, 1);
        if (!type.isFloating()) {
            return (element.getLong(0) - expected.whole()) << (Long.SIZE - Byte.SIZE * type.byteSize()) == 0;
        }
        double found = switch (type.byteSize()) {
            case Double.BYTES -> element.getDouble(0);
            case Float.BYTES -> element.getFloat(0);
            default -> HalfFloats.widen(type, element.getShort(0));
        };
        return Math.abs(found - expected.real()) <= TOLERANCES.get(type) * Math.abs(expected.real());
    }

    /** Writes all elements to the start of a buffer. */
    void copyTo(ByteBuffer bytes) {
        tensor.dataType().carrier().write(bytes, 0, tensor.memory(), 0, (int) tensor.elementCount());
    }

    /**
     * Writes to the start of a buffer as many elements as the array has, by repeating the first few elements. The
     * repeated elements stay in the cache, so that this method takes as long as {@link #fill}.
     */
    void fillFromFirst(ByteBuffer bytes) {
        int count = (int) tensor.elementCount();
        int unit = tensor.dataType().byteSize();
        int block = Math.min(count, REPEATED_BYTES / unit);
        for (int done = 0; done < count; done += block) {
            tensor.dataType().carrier().write(bytes, done * unit, tensor.memory(), 0, Math.min(block, count - done));
        }
    }

    /** Reads all elements from the start of a buffer. */
    void copyFrom(ByteBuffer bytes) {
        tensor.dataType().carrier().read(bytes, 0, tensor.memory(), 0, (int) tensor.elementCount());
    }
}

package ferro.training.checkpoint;

import ferro.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The entry of a tensor in the header of a safetensors file. Byte offsets are counted from the end of the header.
 *
 * @param name     the name of the tensor
 * @param dataType the data type of the elements
 * @param shape    the length of each dimension
 * @param begin    the offset of the first byte of the tensor
 * @param end      the offset after the last byte of the tensor
 */
record SafetensorsEntry(String name, DataType dataType, List<Long> shape, long begin, long end) {
    private static final int MAX_DIMENSIONS = 64;

    /** Parses an entry. Throws an exception if the number of bytes does not fit the shape and the data type. */
    static SafetensorsEntry of(String name, JsonObjectFields fields) {
        DataType type = type(name, fields);
        List<Long> shape = fields.numbers("shape");
        List<Long> offsets = fields.numbers("data_offsets");
        String what = fields.source() + ": tensor \"" + MessageFormatter.shortened(name) + "\" ";
        if (shape.size() > MAX_DIMENSIONS || shape.stream().anyMatch(length -> length < 0)) {
            throw new CheckpointException(what + "has shape " + MessageFormatter.shortened(shape.toString())
                    + ", need at most " + MAX_DIMENSIONS + " lengths of 0 or more");
        }
        if (offsets.size() != 2 || offsets.get(0) < 0 || offsets.get(1) < offsets.get(0)) {
            throw new CheckpointException(what + "has data_offsets " + MessageFormatter.shortened(offsets.toString())
                    + ", need the offset of its first byte and the offset after its last byte");
        }
        SafetensorsEntry entry = new SafetensorsEntry(name, type, shape, offsets.get(0), offsets.get(1));
        if (entry.byteCount() != byteCount(what, type, shape)) {
            throw new CheckpointException(what + "has " + entry.byteCount() + " bytes, need "
                    + byteCount(what, type, shape) + " for " + type.label() + shape);
        }
        return entry;
    }

    private static DataType type(String name, JsonObjectFields fields) {
        String label = fields.string("dtype");
        for (DataType type : DataType.values()) {
            if (label(type).equals(label)) {
                return type;
            }
        }
        throw new CheckpointException(fields.source() + ": tensor \"" + MessageFormatter.shortened(name)
                + "\" has type " + MessageFormatter.shortened(label) + ", which ferro does not support");
    }

    private static long byteCount(String what, DataType type, List<Long> shape) {
        try {
            return shape.stream().reduce((long) type.byteSize(), Math::multiplyExact);
        } catch (ArithmeticException overflow) {
            throw new CheckpointException(
                    what + "has shape " + shape + ", whose number of bytes does not fit in 64 bits", overflow);
        }
    }

    /** Returns the name of a data type in safetensors files, which is ferro's label in upper case. */
    private static String label(DataType type) {
        return type.label().toUpperCase(Locale.ROOT);
    }

    long byteCount() {
        return end - begin;
    }

    long elementCount() {
        return byteCount() / dataType.byteSize();
    }

    /** Returns the JSON fields of this entry in the header. */
    Map<String, Object> fields() {
        return Map.of("dtype", label(dataType), "shape", shape, "data_offsets", List.of(begin, end));
    }

    @Override
    public String toString() {
        return name + " " + dataType.label() + shape;
    }
}

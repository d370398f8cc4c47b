package ferro.training.checkpoint;

import ferro.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A tensor of a safetensors file, as its header has it. Bytes are counted from the end of the header.
 *
 * @param name its name
 * @param dataType the type of its elements
 * @param shape the length of each dimension
 * @param begin its first byte
 * @param end the byte behind its last one
 */
record SafetensorsEntry(String name, DataType dataType, List<Long> shape, long begin, long end) {
    private static final int MOST_DIMENSIONS = 64;

    /** Reads an entry; the bytes are those of its shape and type. */
    static SafetensorsEntry of(String name, JsonValues fields) {
        DataType type = type(name, fields);
        List<Long> shape = fields.numbers("shape");
        List<Long> offsets = fields.numbers("data_offsets");
        String what = fields.source() + ": tensor \"" + Text.shortened(name) + "\" ";
        if (shape.size() > MOST_DIMENSIONS || shape.stream().anyMatch(length -> length < 0)) {
            throw new CheckpointException(what + "has shape " + Text.shortened(shape.toString()) + ", need at most "
                    + MOST_DIMENSIONS + " lengths from 0 on");
        }
        if (offsets.size() != 2 || offsets.get(0) < 0 || offsets.get(1) < offsets.get(0)) {
            throw new CheckpointException(what + "has data_offsets " + Text.shortened(offsets.toString())
                    + ", need its first byte and the one behind its last");
        }
        SafetensorsEntry entry = new SafetensorsEntry(name, type, shape, offsets.get(0), offsets.get(1));
        if (entry.byteCount() != byteCount(what, type, shape)) {
            throw new CheckpointException(what + "has " + entry.byteCount() + " bytes, need "
                    + byteCount(what, type, shape) + " for " + type.label() + shape);
        }
        return entry;
    }

    private static DataType type(String name, JsonValues fields) {
        String label = fields.string("dtype");
        for (DataType type : DataType.values()) {
            if (label(type).equals(label)) {
                return type;
            }
        }
        throw new CheckpointException(fields.source() + ": tensor \"" + Text.shortened(name) + "\" has type "
                + Text.shortened(label) + ", which ferro does not have");
    }

    private static long byteCount(String what, DataType type, List<Long> shape) {
        try {
            return shape.stream().reduce((long) type.byteSize(), Math::multiplyExact);
        } catch (ArithmeticException overflow) {
            throw new CheckpointException(what + "has shape " + shape + ", whose bytes 64 bits cannot count", overflow);
        }
    }

    /** The format's name of a type: that of ferro in capitals. */
    private static String label(DataType type) {
        return type.label().toUpperCase(Locale.ROOT);
    }

    long byteCount() {
        return end - begin;
    }

    long elementCount() {
        return byteCount() / dataType.byteSize();
    }

    /** The fields that stand in a header. */
    Map<String, Object> fields() {
        return Map.of("dtype", label(dataType), "shape", shape, "data_offsets", List.of(begin, end));
    }

    @Override
    public String toString() {
        return name + " " + dataType.label() + shape;
    }
}

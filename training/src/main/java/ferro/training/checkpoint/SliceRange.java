package ferro.training.checkpoint;

import ferro.DataType;
import java.util.List;
import java.util.Map;

/**
 * A range of elements of one state of one parameter. A file stores the range as a tensor of one dimension with a name
 * such as {@code exp_avg/dense.weight@4096}.
 *
 * @param key      the state and the parameter
 * @param dataType the data type of the elements
 * @param from     the index of the first element
 * @param count    the number of elements
 */
record SliceRange(StateKey key, DataType dataType, long from, long count) {

    /**
     * The name of a state of a parameter.
     *
     * @param state     the name of the state, such as {@code exp_avg}
     * @param parameter the name of the parameter
     */
    record StateKey(String state, String parameter) {
        @Override
        public String toString() {
            return "state " + state + " of \"" + MessageFormatter.shortened(parameter) + "\"";
        }
    }

    static SliceRange of(StateSlice slice) {
        StateKey key = new StateKey(slice.state(), slice.parameter());
        return new SliceRange(
                key, slice.values().dataType(), slice.from(), slice.values().elementCount());
    }

    /** Parses the name of a tensor in a file. */
    static SliceRange of(String file, SafetensorsEntry entry) {
        String name = entry.name();
        int slash = name.indexOf('/');
        int at = name.lastIndexOf('@');
        if (slash < 1 || at < slash || !name.substring(at + 1).matches("0|[1-9][0-9]{0,17}")) {
            throw new CheckpointException(file + ": tensor \"" + MessageFormatter.shortened(name)
                    + "\" is not a state: need a name such as exp_avg/dense.weight@0");
        }
        StateKey key = new StateKey(name.substring(0, slash), name.substring(slash + 1, at));
        return new SliceRange(key, entry.dataType(), Long.parseLong(name.substring(at + 1)), entry.elementCount());
    }

    /** Parses a range from the JSON fields that {@link #fields} has returned. */
    static SliceRange of(JsonObjectFields fields) {
        return new SliceRange(
                new StateKey(fields.string("state"), fields.string("parameter")),
                DataType.parse(fields.string("type")),
                fields.count("from"),
                fields.count("count"));
    }

    Map<String, Object> fields() {
        return Map.of(
                "state", key.state, "parameter", key.parameter, "type", dataType.label(), "from", from, "count", count);
    }

    String tensorName() {
        return key.state + "/" + key.parameter + "@" + from;
    }

    long end() {
        return from + count;
    }

    long byteCount() {
        return count * dataType.byteSize();
    }

    /**
     * Checks that the ranges of a state cover all elements and that no two ranges overlap. Adds a message to
     * {@code problems} for each gap, overlap or difference in data type.
     */
    static void addGaps(List<SliceRange> sorted, long elementCount, List<String> problems) {
        long at = 0;
        StateKey key = sorted.get(0).key;
        for (SliceRange range : sorted) {
            if (range.from > at) {
                problems.add(key + ": elements " + at + " to " + (range.from - 1) + " are missing");
            } else if (range.from < at) {
                problems.add(key + ": elements " + range.from + " to " + (Math.min(at, range.end()) - 1)
                        + " are in two different ranges");
            }
            if (range.dataType != sorted.get(0).dataType) {
                problems.add(key + ": has ranges of type "
                        + sorted.get(0).dataType.label() + " and of type " + range.dataType.label());
            }
            at = Math.max(at, range.end());
        }
        if (at != elementCount) {
            problems.add(key + ": has " + at + " elements, but the parameter has " + elementCount);
        }
    }

    @Override
    public String toString() {
        return key + " " + dataType.label() + " from " + from + " to " + (end() - 1);
    }
}

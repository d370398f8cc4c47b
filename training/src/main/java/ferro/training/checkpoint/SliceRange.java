package ferro.training.checkpoint;

import ferro.DataType;
import java.util.List;
import java.util.Map;

/**
 * Which elements of which state of which parameter. In a file it is a tensor of one dimension that is called
 * {@code exp_avg/dense.weight@4096}.
 *
 * @param key the state and the parameter
 * @param dataType the type of the elements
 * @param from the first element
 * @param count how many elements
 */
record SliceRange(StateKey key, DataType dataType, long from, long count) {

    /**
     * A state of a parameter.
     *
     * @param state what it is
     * @param parameter the name of the parameter
     */
    record StateKey(String state, String parameter) {
        @Override
        public String toString() {
            return "state " + state + " of \"" + Text.shortened(parameter) + "\"";
        }
    }

    static SliceRange of(StateSlice slice) {
        StateKey key = new StateKey(slice.state(), slice.parameter());
        return new SliceRange(
                key, slice.values().dataType(), slice.from(), slice.values().elementCount());
    }

    /** Reads the name of a tensor; the file stands in messages. */
    static SliceRange of(String file, SafetensorsEntry entry) {
        String name = entry.name();
        int slash = name.indexOf('/');
        int at = name.lastIndexOf('@');
        if (slash < 1 || at < slash || !name.substring(at + 1).matches("0|[1-9][0-9]{0,17}")) {
            throw new CheckpointException(file + ": tensor \"" + Text.shortened(name)
                    + "\" is no state: need a name such as exp_avg/dense.weight@0");
        }
        StateKey key = new StateKey(name.substring(0, slash), name.substring(slash + 1, at));
        return new SliceRange(key, entry.dataType(), Long.parseLong(name.substring(at + 1)), entry.elementCount());
    }

    /** Reads what {@link #fields} has written. */
    static SliceRange of(JsonValues fields) {
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

    /** Says what is wrong with ranges that have to be all elements of a state, once each; adds nothing if that is so. */
    static void addGaps(List<SliceRange> sorted, long elementCount, List<String> problems) {
        long at = 0;
        StateKey key = sorted.get(0).key;
        for (SliceRange range : sorted) {
            if (range.from > at) {
                problems.add(key + ": elements " + at + " to " + (range.from - 1) + " are missing");
            } else if (range.from < at) {
                problems.add(key + ": elements " + range.from + " to " + (Math.min(at, range.end()) - 1)
                        + " stand in two ranges that differ");
            }
            if (range.dataType != sorted.get(0).dataType) {
                problems.add(key + ": is " + sorted.get(0).dataType.label() + " and " + range.dataType.label());
            }
            at = Math.max(at, range.end());
        }
        if (at != elementCount) {
            problems.add(key + ": has " + at + " elements, the parameter has " + elementCount);
        }
    }

    @Override
    public String toString() {
        return key + " " + dataType.label() + " from " + from + " to " + (end() - 1);
    }
}

package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of a JSON object. Each method expects one type of value and throws an exception if the field has another
 * type.
 *
 * @param source the name of the file or of the rank message, used in exception messages
 * @param fields maps, lists, strings and longs by field name, in the order of the JSON text
 */
record JsonObjectFields(String source, Map<String, Object> fields) {

    String string(String name) {
        return cast(name, fields.get(name), String.class, "a string");
    }

    long number(String name) {
        return cast(name, fields.get(name), Long.class, "an integer");
    }

    /** Returns an integer of 0 or more. */
    long count(String name) {
        long number = number(name);
        if (number < 0) {
            throw refused(name, "an integer of 0 or more", number);
        }
        return number;
    }

    /** Returns an integer of 0 or more that fits in an int. */
    int small(String name) {
        long number = count(name);
        if (number > Integer.MAX_VALUE) {
            throw refused(name, "an integer of at most " + Integer.MAX_VALUE, number);
        }
        return (int) number;
    }

    JsonObjectFields object(String name) {
        return object(name, fields.get(name));
    }

    List<JsonObjectFields> objects(String name) {
        return list(name).stream().map(element -> object(name, element)).toList();
    }

    List<Long> numbers(String name) {
        return list(name).stream()
                .map(element -> cast(name, element, Long.class, "only integers in the array"))
                .toList();
    }

    List<String> texts(String name) {
        return list(name).stream()
                .map(element -> cast(name, element, String.class, "only strings in the array"))
                .toList();
    }

    /** Returns all fields of this object, which must be strings. */
    Map<String, String> strings() {
        Map<String, String> strings = new LinkedHashMap<>();
        fields.forEach((name, value) -> strings.put(name, cast(name, value, String.class, "a string")));
        return strings;
    }

    private List<?> list(String name) {
        return cast(name, fields.get(name), List.class, "an array");
    }

    private JsonObjectFields object(String name, Object value) {
        Map<String, Object> inner = new LinkedHashMap<>();
        Map<?, ?> found = cast(name, value, Map.class, "an object");
        found.forEach((key, each) -> inner.put((String) key, each));
        return new JsonObjectFields(source, inner);
    }

    private <T> T cast(String name, Object value, Class<T> type, String needed) {
        if (!type.isInstance(value)) {
            throw refused(name, needed, value);
        }
        return type.cast(value);
    }

    private CheckpointException refused(String name, String needed, Object found) {
        return new CheckpointException(source + ": \"" + MessageFormatter.shortened(name) + "\": need " + needed
                + ", found " + (found == null ? "nothing" : MessageFormatter.shortened(found.toString())));
    }
}

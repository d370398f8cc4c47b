package ferro.training.checkpoint;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The fields of a JSON object; each call says of which kind a field must be.
 *
 * @param source what stands in messages
 * @param fields maps, lists, strings and longs by name, in the order of the text
 */
record JsonValues(String source, Map<String, Object> fields) {

    String string(String name) {
        return cast(name, fields.get(name), String.class, "a string");
    }

    long number(String name) {
        return cast(name, fields.get(name), Long.class, "a whole number");
    }

    /** A number from 0 on. */
    long count(String name) {
        long number = number(name);
        if (number < 0) {
            throw refused(name, "a number from 0 on", number);
        }
        return number;
    }

    /** A number from 0 on that an int holds. */
    int small(String name) {
        long number = count(name);
        if (number > Integer.MAX_VALUE) {
            throw refused(name, "a number up to " + Integer.MAX_VALUE, number);
        }
        return (int) number;
    }

    JsonValues object(String name) {
        return object(name, fields.get(name));
    }

    List<JsonValues> objects(String name) {
        List<JsonValues> objects = new ArrayList<>();
        for (Object element : list(name)) {
            objects.add(object(name, element));
        }
        return objects;
    }

    List<Long> numbers(String name) {
        List<Long> numbers = new ArrayList<>();
        for (Object element : list(name)) {
            numbers.add(cast(name, element, Long.class, "whole numbers"));
        }
        return numbers;
    }

    List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        for (Object element : list(name)) {
            texts.add(cast(name, element, String.class, "strings"));
        }
        return texts;
    }

    /** Strings by name: of this object itself. */
    Map<String, String> strings() {
        Map<String, String> strings = new LinkedHashMap<>();
        fields.forEach((name, value) -> strings.put(name, cast(name, value, String.class, "a string")));
        return strings;
    }

    private List<?> list(String name) {
        return cast(name, fields.get(name), List.class, "an array");
    }

    private JsonValues object(String name, Object value) {
        Map<String, Object> inner = new LinkedHashMap<>();
        Map<?, ?> found = cast(name, value, Map.class, "an object");
        found.forEach((key, each) -> inner.put((String) key, each));
        return new JsonValues(source, inner);
    }

    private <T> T cast(String name, Object value, Class<T> type, String needed) {
        if (!type.isInstance(value)) {
            throw refused(name, needed, value);
        }
        return type.cast(value);
    }

    private CheckpointException refused(String name, String needed, Object found) {
        return new CheckpointException(source + ": \"" + Text.shortened(name) + "\": need " + needed + ", found "
                + (found == null ? "nothing" : Text.shortened(found.toString())));
    }
}

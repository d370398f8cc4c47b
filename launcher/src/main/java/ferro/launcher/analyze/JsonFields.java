package ferro.launcher.analyze;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The fields of one JSON object. Each field is checked when it is read.
 *
 * @param object object whose fields are read
 * @param place  path of the object in the file, for messages
 */
record JsonFields(JsonObject object, String place) {
    /** Longest text of a field. Recorders write no longer texts, but another program may have written the file. */
    private static final int LONGEST_TEXT = 2_000;

    /** Returns a required integer. */
    long number(String name, long least, long most) throws UnreadableRecordingException {
        JsonElement value = required(name);
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isNumber()) {
            throw wrong(name, "a number", value);
        }
        try {
            long number = Long.parseLong(value.getAsString());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException fraction) {
            throw new UnreadableRecordingException(found(name, "a whole number", value), fraction);
        }
        throw wrong(name, "a number from " + least + " to " + most, value);
    }

    /** Returns an integer, or {@code otherwise} if the field is missing. */
    long number(String name, long least, long most, long otherwise) throws UnreadableRecordingException {
        return has(name) ? number(name, least, most) : otherwise;
    }

    /** Returns a required integer without limits, such as a time. */
    long number(String name) throws UnreadableRecordingException {
        return number(name, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /** Returns a required text. */
    String text(String name) throws UnreadableRecordingException {
        JsonElement value = required(name);
        if (!value.isJsonPrimitive() || !value.getAsJsonPrimitive().isString()) {
            throw wrong(name, "a text", value);
        }
        return clean(value.getAsString());
    }

    /** Returns a text, or {@code otherwise} if the field is missing. */
    String text(String name, String otherwise) throws UnreadableRecordingException {
        return has(name) ? text(name) : otherwise;
    }

    /** Returns a text with its line breaks; empty if the field is missing. */
    String lines(String name) throws UnreadableRecordingException {
        return has(name) && object.get(name).isJsonPrimitive()
                ? object.get(name).getAsString().lines().map(JsonFields::clean).collect(Collectors.joining("\n"))
                : text(name, "");
    }

    /** Returns an enum constant by its name, in upper or lower case. */
    <E extends Enum<E>> E constant(String name, Class<E> type) throws UnreadableRecordingException {
        String text = text(name);
        for (E one : type.getEnumConstants()) {
            if (one.name().equalsIgnoreCase(text)) {
                return one;
            }
        }
        throw new UnreadableRecordingException("\"" + place + name + "\" is \"" + text + "\", need one of "
                + Arrays.toString(type.getEnumConstants()));
    }

    /** Returns a list of ranks; empty if the field is missing. */
    List<Integer> ranks(String name) throws UnreadableRecordingException {
        List<Integer> ranks = new ArrayList<>();
        if (has(name)) {
            JsonArray all = array(name);
            if (all.size() > RecordingReader.MOST_RANKS) {
                throw wrong(name, "at most " + RecordingReader.MOST_RANKS + " ranks, not " + all.size(), all);
            }
            for (JsonElement value : all) {
                JsonObject one = new JsonObject();
                one.add(name, value);
                ranks.add((int) new JsonFields(one, place).number(name, 0, RecordingReader.MOST_RANKS));
            }
        }
        return List.copyOf(ranks);
    }

    /** Returns an object; empty if the field is missing. */
    Optional<JsonFields> object(String name) throws UnreadableRecordingException {
        return has(name) ? Optional.of(inner(object.get(name), name)) : Optional.empty();
    }

    /** A function that creates a value from the fields of an object. */
    interface ValueReader<T> {
        T read(JsonFields fields) throws UnreadableRecordingException;
    }

    /** Returns a required list of objects. */
    <T> List<T> list(String name, ValueReader<T> reader) throws UnreadableRecordingException {
        required(name);
        List<T> all = new ArrayList<>();
        for (JsonElement value : array(name)) {
            all.add(reader.read(inner(value, name + "[" + all.size() + "]")));
        }
        return all;
    }

    private JsonFields inner(JsonElement value, String name) throws UnreadableRecordingException {
        if (!value.isJsonObject()) {
            throw wrong(name, "an object", value);
        }
        return new JsonFields(value.getAsJsonObject(), place + name + ".");
    }

    private JsonArray array(String name) throws UnreadableRecordingException {
        JsonElement value = object.get(name);
        if (!value.isJsonArray()) {
            throw wrong(name, "a list", value);
        }
        return value.getAsJsonArray();
    }

    private boolean has(String name) {
        return object.has(name) && !object.get(name).isJsonNull();
    }

    private JsonElement required(String name) throws UnreadableRecordingException {
        if (!has(name)) {
            throw new UnreadableRecordingException("there is no \"" + place + name + "\"");
        }
        return object.get(name);
    }

    private UnreadableRecordingException wrong(String name, String expected, JsonElement value) {
        return new UnreadableRecordingException(found(name, expected, value));
    }

    private String found(String name, String expected, JsonElement value) {
        String shown = clean(value.toString());
        String cut = shown.length() > 40 ? shown.substring(0, 40) + " ..." : shown;
        return "\"" + place + name + "\" is " + cut + ", need " + expected;
    }

    /** Returns a text without control characters, cut to a limit. The result cannot disturb the screen. */
    static String clean(String text) {
        StringBuilder clean = new StringBuilder();
        text.codePoints()
                .limit(LONGEST_TEXT)
                .map(point ->
                        Character.isISOControl(point) || Character.getType(point) == Character.FORMAT ? ' ' : point)
                .forEach(clean::appendCodePoint);
        return text.codePointCount(0, text.length()) > LONGEST_TEXT ? clean + " ..." : clean.toString();
    }
}

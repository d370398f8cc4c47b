package ferro.training.checkpoint;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A JSON reader and writer. The reader accepts untrusted text. The reader accepts objects, arrays, strings and integers
 * as maps, lists, strings and longs. The reader throws an exception for any other value, for duplicate names, for deep
 * nesting and for too many values, before such a text uses much memory.
 */
final class StrictJson {
    private static final int DEEPEST = 6;
    private static final int MAX_VALUES = 4_000_000;
    private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9][0-9]{0,18})");
    private static final Gson WRITER = new GsonBuilder().disableHtmlEscaping().create();

    private final String source;
    private final JsonReader reader;
    private int values;

    private StrictJson(String source, String text) {
        this.source = source;
        reader = new JsonReader(new StringReader(text));
        reader.setStrictness(Strictness.STRICT);
    }

    /** Writes maps, lists, strings and numbers. */
    static String write(Object value) {
        return WRITER.toJson(value);
    }

    /** Reads an object from UTF-8 bytes. Exception messages contain {@code source}. */
    static JsonValues read(String source, ByteBuffer utf8) {
        try {
            return read(source, StandardCharsets.UTF_8.newDecoder().decode(utf8).toString());
        } catch (CharacterCodingException malformed) {
            throw new CheckpointException(source + ": the JSON text is not valid UTF-8", malformed);
        }
    }

    /** Reads an object from a text. Exception messages contain {@code source}. */
    static JsonValues read(String source, String text) {
        StrictJson json = new StrictJson(source, text);
        try {
            if (json.reader.peek() != JsonToken.BEGIN_OBJECT) {
                throw json.refused("need a JSON object, found " + json.reader.peek());
            }
            Map<String, Object> fields = json.object(1);
            if (json.reader.peek() != JsonToken.END_DOCUMENT) {
                throw json.refused("need the end of the text after the JSON object, found " + json.reader.peek());
            }
            return new JsonValues(source, fields);
        } catch (IOException | IllegalStateException malformed) {
            throw new CheckpointException(
                    source + ": invalid JSON at " + Text.shortened(json.reader.getPath()), malformed);
        }
    }

    private CheckpointException refused(String what) {
        return new CheckpointException(source + ": " + what + " at " + Text.shortened(reader.getPath()));
    }

    private Object value(int depth) throws IOException {
        if (++values > MAX_VALUES) {
            throw refused("the JSON text has more than " + MAX_VALUES + " values");
        }
        if (depth > DEEPEST) {
            throw refused("the JSON text is nested deeper than " + DEEPEST + " levels");
        }
        JsonToken token = reader.peek();
        if (token == JsonToken.BEGIN_OBJECT) {
            return object(depth);
        }
        if (token == JsonToken.BEGIN_ARRAY) {
            return array(depth);
        }
        if (token == JsonToken.STRING) {
            return reader.nextString();
        }
        if (token == JsonToken.NUMBER) {
            return number(reader.nextString());
        }
        throw refused("need an object, an array, a string or an integer, found " + token);
    }

    private Long number(String text) {
        if (!INTEGER.matcher(text).matches()) {
            throw refused("need an integer, found " + Text.shortened(text));
        }
        try {
            return Long.valueOf(text);
        } catch (NumberFormatException tooLarge) {
            throw refused("need an integer of 64 bits, found " + text);
        }
    }

    private Map<String, Object> object(int depth) throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        reader.beginObject();
        while (reader.hasNext()) {
            String name = reader.nextName();
            if (fields.containsKey(name)) {
                throw refused("the name \"" + Text.shortened(name) + "\" occurs twice");
            }
            fields.put(name, value(depth + 1));
        }
        reader.endObject();
        return fields;
    }

    private List<Object> array(int depth) throws IOException {
        List<Object> elements = new ArrayList<>();
        reader.beginArray();
        while (reader.hasNext()) {
            elements.add(value(depth + 1));
        }
        reader.endArray();
        return elements;
    }
}

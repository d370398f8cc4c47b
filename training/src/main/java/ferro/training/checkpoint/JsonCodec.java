package ferro.training.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A reader of JSON from untrusted sources by RFC 8259, and a writer of JSON. The reader accepts objects, arrays,
 * strings and integers as maps, lists, strings and longs. The reader throws an exception for any other value, for
 * duplicate names, for deep nesting and for too many values, before a text uses much memory.
 *
 * <p>The reader uses no library, because applications such as Spark have JSON libraries of any age on their class path.
 */
final class JsonCodec {
    /** Characters with an escape of two characters, and the second character of each escape. */
    private static final String NAMED = "\"\\\b\f\n\r\t";

    private static final String NAMES = "\"\\bfnrt";
    private static final int DEEPEST = 6;
    private static final int MAX_VALUES = 4_000_000;
    /** The first characters of JSON values that are neither objects nor words. */
    private static final String OTHER_VALUES = "[\"-0123456789";

    private static final int HEX_DIGITS = 4;
    private static final int HEX = 16;
    private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9][0-9]{0,18})");
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?");
    private static final Pattern WORD = Pattern.compile("true|false|null");

    private final String source;
    private final String text;
    private final StringBuilder path = new StringBuilder("$");
    private int at;
    private int values;

    private JsonCodec(String source, String text) {
        this.source = source;
        this.text = text;
    }

    /** Reads an object from UTF-8 bytes. Exception messages contain {@code source}. */
    static JsonObjectFields read(String source, ByteBuffer utf8) {
        try {
            return read(source, StandardCharsets.UTF_8.newDecoder().decode(utf8).toString());
        } catch (CharacterCodingException malformed) {
            throw new CheckpointException(source + ": the JSON text is not valid UTF-8", malformed);
        }
    }

    /** Reads an object from a text. Exception messages contain {@code source}. */
    static JsonObjectFields read(String source, String text) {
        JsonCodec json = new JsonCodec(source, text);
        json.skipSpaces();
        if (json.at < text.length() && OTHER_VALUES.indexOf(text.charAt(json.at)) >= 0) {
            throw json.refused("need a JSON object, found " + json.found());
        }
        Map<String, Object> fields = json.object(1);
        json.skipSpaces();
        if (json.at < text.length()) {
            throw json.malformed("the end of the text");
        }
        return new JsonObjectFields(source, fields);
    }

    private CheckpointException refused(String what) {
        return new CheckpointException(source + ": " + what + " at " + MessageFormatter.shortened(path.toString()));
    }

    private CheckpointException malformed(String needed) {
        return new CheckpointException(source + ": invalid JSON at " + MessageFormatter.shortened(path.toString())
                + ", character " + at + ": need " + needed + ", found " + found());
    }

    /** Describes the character at the current position. */
    private String found() {
        if (at >= text.length()) {
            return "the end of the text";
        }
        char found = text.charAt(at);
        return found < ' ' ? "a control character of value " + (int) found : String.valueOf(found);
    }

    private void skipSpaces() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    /**
     * Skips spaces, then the given character. Returns false, and stops before the next character, if that character
     * differs.
     */
    private boolean skips(char wanted) {
        skipSpaces();
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void need(char wanted) {
        if (!skips(wanted)) {
            throw malformed(String.valueOf(wanted));
        }
    }

    private Object value(int depth) {
        if (++values > MAX_VALUES) {
            throw refused("the JSON text has more than " + MAX_VALUES + " values");
        }
        if (depth > DEEPEST) {
            throw refused("the JSON text is nested deeper than " + DEEPEST + " levels");
        }
        skipSpaces();
        char first = at < text.length() ? text.charAt(at) : ' ';
        return switch (first) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> fields = new LinkedHashMap<>();
        need('{');
        if (skips('}')) {
            return fields;
        }
        int outer = path.length();
        do {
            path.setLength(outer);
            skipSpaces();
            String name = string();
            path.append('.').append(MessageFormatter.shortened(name));
            if (fields.containsKey(name)) {
                throw refused("the name \"" + MessageFormatter.shortened(name) + "\" occurs twice");
            }
            need(':');
            fields.put(name, value(depth + 1));
        } while (skips(','));
        path.setLength(outer);
        need('}');
        return fields;
    }

    private List<Object> array(int depth) {
        List<Object> elements = new ArrayList<>();
        need('[');
        if (skips(']')) {
            return elements;
        }
        int outer = path.length();
        do {
            path.setLength(outer);
            path.append('[').append(elements.size()).append(']');
            elements.add(value(depth + 1));
        } while (skips(','));
        path.setLength(outer);
        need(']');
        return elements;
    }

    /** Reads the characters up to the next character that cannot belong to a number or a word. */
    private Long number() {
        int begin = at;
        int end = at;
        while (end < text.length() && isNumberOrWord(text.charAt(end))) {
            end++;
        }
        String token = text.substring(begin, end);
        if (WORD.matcher(token).matches()) {
            throw refused("need an object, an array, a string or an integer, found " + token);
        }
        if (!NUMBER.matcher(token).matches()) {
            throw malformed("a value");
        }
        if (!INTEGER.matcher(token).matches()) {
            throw refused("need an integer, found " + MessageFormatter.shortened(token));
        }
        try {
            Long number = Long.valueOf(token);
            at = end;
            return number;
        } catch (NumberFormatException tooLarge) {
            throw refused("need an integer of 64 bits, found " + token);
        }
    }

    private static boolean isNumberOrWord(char next) {
        return next >= '0' && next <= '9' || next >= 'a' && next <= 'z' || "+-.E".indexOf(next) >= 0;
    }

    private String string() {
        if (at >= text.length() || text.charAt(at) != '"') {
            throw malformed("\"");
        }
        int plain = ++at;
        StringBuilder decoded = null;
        while (at < text.length() && text.charAt(at) >= ' ') {
            char next = text.charAt(at);
            if (next == '"') {
                String rest = text.substring(plain, at++);
                return decoded == null ? rest : decoded.append(rest).toString();
            }
            if (next == '\\') {
                decoded = decoded == null ? new StringBuilder() : decoded;
                decoded.append(text, plain, at++).append(escaped());
                plain = at;
            } else {
                at++;
            }
        }
        throw malformed("the end of a string");
    }

    /** Reads the part of an escape that follows the backslash. */
    private char escaped() {
        char kind = at < text.length() ? text.charAt(at) : ' ';
        int plain = "\"\\/bfnrt".indexOf(kind);
        if (plain >= 0) {
            at++;
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }
        if (kind != 'u') {
            throw malformed("an escape such as \\n");
        }
        at++;
        int code = 0;
        for (int digit = 0; digit < HEX_DIGITS; digit++) {
            int value = at < text.length() ? hex(text.charAt(at)) : -1;
            if (value < 0) {
                throw malformed("a hexadecimal digit");
            }
            code = HEX * code + value;
            at++;
        }
        return (char) code;
    }

    /** Returns the value of an ASCII digit; -1 if the character is not a digit. */
    private static int hex(char digit) {
        return digit < 128 ? Character.digit(digit, HEX) : -1;
    }

    /** Returns the JSON text of a map with text keys, a collection, a string, an int or a long, without spaces. */
    static String text(Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private static void append(StringBuilder out, Object value) {
        if (value instanceof Map<?, ?> fields) {
            char before = '{';
            for (Map.Entry<?, ?> field : fields.entrySet()) {
                out.append(before);
                quote(out, (String) field.getKey());
                out.append(':');
                append(out, field.getValue());
                before = ',';
            }
            out.append(fields.isEmpty() ? "{}" : "}");
        } else if (value instanceof Collection<?> elements) {
            char before = '[';
            for (Object element : elements) {
                out.append(before);
                append(out, element);
                before = ',';
            }
            out.append(elements.isEmpty() ? "[]" : "]");
        } else if (value instanceof String text) {
            quote(out, text);
        } else if (value instanceof Integer || value instanceof Long) {
            out.append(value);
        } else {
            throw new IllegalArgumentException(
                    "cannot write " + value + " as JSON: need a map, a collection, a string, an int or a long");
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            int named = NAMED.indexOf(next);
            if (named >= 0) {
                out.append('\\').append(NAMES.charAt(named));
            } else if (next < ' ') {
                out.append(String.format("\\u%04x", (int) next));
            } else {
                out.append(next);
            }
        }
        out.append('"');
    }
}

package ferro.training.checkpoint;

import java.util.Collection;
import java.util.Map;

/** A writer of JSON text. The writer accepts maps with text keys, collections, strings, ints and longs. */
final class JsonText {
    private static final String NAMED = "\"\\\b\f\n\r\t";
    private static final String NAMES = "\"\\bfnrt";

    private final StringBuilder out = new StringBuilder();

    private JsonText() {}

    /** Returns the JSON text of a value, without spaces. */
    static String of(Object value) {
        JsonText text = new JsonText();
        text.append(value);
        return text.out.toString();
    }

    private void append(Object value) {
        if (value instanceof Map<?, ?> fields) {
            char before = '{';
            for (Map.Entry<?, ?> field : fields.entrySet()) {
                out.append(before);
                quote((String) field.getKey());
                out.append(':');
                append(field.getValue());
                before = ',';
            }
            out.append(fields.isEmpty() ? "{}" : "}");
        } else if (value instanceof Collection<?> elements) {
            char before = '[';
            for (Object element : elements) {
                out.append(before);
                append(element);
                before = ',';
            }
            out.append(elements.isEmpty() ? "[]" : "]");
        } else if (value instanceof String text) {
            quote(text);
        } else if (value instanceof Integer || value instanceof Long) {
            out.append(value);
        } else {
            throw new IllegalArgumentException(
                    "cannot write " + value + " as JSON: need a map, a collection, a string, an int or a long");
        }
    }

    private void quote(String text) {
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

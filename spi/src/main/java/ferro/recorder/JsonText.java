package ferro.recorder;

import java.util.Collection;

/**
 * A writer of JSON, which also sets the commas. Texts are shortened and escaped, so that no text is mistaken for JSON
 * syntax.
 */
final class JsonText {
    private static final int TEXT_CHARACTERS = 1000;
    private static final int FIRST_PRINTABLE = 0x20;
    private static final int LAST_PLAIN = 0x7e;

    private final StringBuilder out = new StringBuilder(1 << 16);
    private boolean first = true;
    private boolean named;
    private int lines = -1;
    private int depth;

    JsonText open(char bracket) {
        separate();
        out.append(bracket);
        depth++;
        first = true;
        return this;
    }

    /** Opens a list whose elements are on separate lines. */
    JsonText openLines(char bracket) {
        open(bracket);
        lines = depth;
        return this;
    }

    JsonText close(char bracket) {
        if (lines == depth) {
            out.append('\n');
            lines = -1;
        }
        depth--;
        out.append(bracket);
        first = false;
        return this;
    }

    JsonText name(String name) {
        separate();
        out.append('"').append(name).append("\":");
        named = true;
        return this;
    }

    /** Writes a name and its {@link #value}. */
    JsonText put(String name, Object value) {
        return name(name).value(value);
    }

    /** Writes null, a number, a list of such values, or the text of any other object. */
    JsonText value(Object value) {
        if (value instanceof Collection<?> list) {
            open('[');
            list.forEach(this::value);
            return close(']');
        }
        separate();
        if (value == null || value instanceof Number) {
            out.append(value);
        } else {
            text(value.toString());
        }
        return this;
    }

    private void text(String text) {
        out.append('"');
        int length = Math.min(text.length(), TEXT_CHARACTERS);
        for (int i = 0; i < length; i++) {
            character(text.charAt(i));
        }
        out.append(length < text.length() ? "...\"" : "\"");
    }

    String text() {
        return out.append('\n').toString();
    }

    static String firstWord(String text) {
        int end = text.indexOf(' ');
        return end < 0 ? text : text.substring(0, end);
    }

    /** Escapes all characters except printable ASCII, so that no control sequence reaches a terminal or a page. */
    private void character(char character) {
        if (character == '"' || character == '\\') {
            out.append('\\').append(character);
        } else if (character >= FIRST_PRINTABLE && character <= LAST_PLAIN) {
            out.append(character);
        } else {
            out.append(String.format("\\u%04x", (int) character));
        }
    }

    private void separate() {
        if (named) {
            named = false;
            return;
        }
        if (!first) {
            out.append(',');
        }
        if (lines == depth) {
            out.append('\n');
        }
        first = false;
    }
}

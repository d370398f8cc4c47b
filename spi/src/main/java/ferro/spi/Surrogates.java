package ferro.spi;

import java.util.Objects;

/**
 * Refuses text that UTF-8 cannot encode: half of a surrogate pair. Java would write it as a question mark, so that another
 * text would be read back.
 */
public final class Surrogates {
    private Surrogates() {}

    /**
     * Refuses a text with half of a surrogate pair.
     *
     * @param what names the text in the message, for example {@code metadata "epoch"}
     * @param text any text
     * @return the text
     * @throws IllegalArgumentException with the position, if there is half of a pair
     * @throws NullPointerException     if an argument is null; it names which
     */
    public static String refuseHalves(String what, String text) {
        Objects.requireNonNull(what, "what");
        Objects.requireNonNull(text, "text");
        for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
            int character = text.codePointAt(at);
            if (Character.getType(character) == Character.SURROGATE) {
                throw new IllegalArgumentException(String.format(
                        "%s has half of a surrogate pair, U+%04X, as character %d: UTF-8 cannot encode it",
                        what, character, at + 1));
            }
        }
        return text;
    }
}

package ferro.spi;

import java.util.Objects;

/**
 * A check for text that UTF-8 cannot encode, because the text contains half of a surrogate pair. In place of half of a
 * pair, Java's encoder would write a question mark. The receiver of the text would then get a different text.
 */
public final class SurrogateCheck {
    private SurrogateCheck() {}

    /**
     * Throws an exception if a text contains half of a surrogate pair.
     *
     * @param what name of the text for the message, for example {@code metadata "epoch"}
     * @param text any text
     * @return the text
     * @throws IllegalArgumentException if the text contains half of a pair; the message contains the position of the
     *     half
     * @throws NullPointerException     if an argument is null; the message names the argument
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

package ferro.examples.textmodel;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * A map from characters to symbols, which are small numbers. The most frequent printable characters of a text have
 * their own symbols. All other characters share one symbol.
 */
final class Vocabulary {
    /** The character that is printed for symbol 0. */
    private static final char OTHER = '\uFFFD';

    /** Largest number of symbols. Symbols must fit into a byte, and more symbols would only be rare characters. */
    private static final int MAX_SYMBOLS = 100;

    private final char[] characters;
    private final byte[] symbolOf = new byte[Character.MAX_VALUE + 1];

    private Vocabulary(char[] characters) {
        this.characters = characters;
        for (int symbol = 1; symbol < characters.length; symbol++) {
            symbolOf[characters[symbol]] = (byte) symbol;
        }
    }

    /**
     * Chooses the characters of a text and creates their vocabulary.
     *
     * @param text text whose characters are counted
     * @return vocabulary, the same for the same text
     */
    static Vocabulary of(String text) {
        int[] counts = new int[Character.MAX_VALUE + 1];
        for (int i = 0; i < text.length(); i++) {
            counts[text.charAt(i)]++;
        }
        int[] chosen = IntStream.range(0, counts.length)
                .filter(character -> counts[character] > 0 && printable((char) character))
                .boxed()
                .sorted(Comparator.comparing((Integer character) -> -counts[character])
                        .thenComparing(Comparator.naturalOrder()))
                .limit(MAX_SYMBOLS - 1)
                .mapToInt(Integer::intValue)
                .sorted()
                .toArray();
        char[] characters = new char[chosen.length + 1];
        characters[0] = OTHER;
        for (int i = 0; i < chosen.length; i++) {
            characters[i + 1] = (char) chosen[i];
        }
        return new Vocabulary(characters);
    }

    /**
     * Returns whether a character may be a symbol. Control characters are excluded, so that generated text cannot
     * control a terminal.
     */
    private static boolean printable(char character) {
        boolean lineOrTab = character == '\n' || character == '\t';
        return lineOrTab || (!Character.isISOControl(character) && !Character.isSurrogate(character));
    }

    int size() {
        return characters.length;
    }

    byte[] encode(String text) {
        byte[] symbols = new byte[text.length()];
        for (int i = 0; i < symbols.length; i++) {
            symbols[i] = symbolOf[text.charAt(i)];
        }
        return symbols;
    }

    char character(int symbol) {
        return characters[symbol];
    }

    @Override
    public String toString() {
        return Arrays.toString(characters);
    }
}

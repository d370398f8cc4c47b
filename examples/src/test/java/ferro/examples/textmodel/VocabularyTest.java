package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class VocabularyTest {
    @Test
    void charactersComeBackFromTheirSymbols() {
        Vocabulary vocabulary = Vocabulary.of("ba\tnana\n");
        StringBuilder back = new StringBuilder();
        for (byte symbol : vocabulary.encode("banana\n")) {
            back.append(vocabulary.character(symbol));
        }

        assertEquals("banana\n", back.toString());
    }

    @Test
    void charactersThatCouldSteerATerminalAreNoSymbols() {
        Vocabulary vocabulary = Vocabulary.of("a\u001B[2J\u0007");

        assertArrayEquals(new byte[] {0, 0}, vocabulary.encode("\u001B\u0007"));
    }

    @Test
    void onlyTheMostFrequentCharactersGetASymbol() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            text.append(Character.toString((char) (0x4E00 + i)).repeat(300 - i));
        }
        Vocabulary vocabulary = Vocabulary.of(text.toString());

        assertEquals(100, vocabulary.size());
        assertArrayEquals(new byte[] {1, 99, 0}, vocabulary.encode("\u4E00\u4E62\u4E63"));
    }
}

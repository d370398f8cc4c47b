package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SurrogateCheckTest {
    @Test
    void textWithCompleteSurrogatePairsIsReturned() {
        assertEquals("a \uD83D\uDE00 b", SurrogateCheck.refuseHalves("a key", "a \uD83D\uDE00 b"));
        assertEquals("", SurrogateCheck.refuseHalves("a key", ""));
    }

    @ParameterizedTest
    @CsvSource({"ab\uD83D, D83D, 3", "\uDE00b, DE00, 1", "\uD83D\uD83D\uDE00, D83D, 1", "\uD83D\uDE00\uDE00, DE00, 3"})
    void aHalfSurrogatePairIsRefusedWithItsPosition(String text, String half, int character) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> SurrogateCheck.refuseHalves("a key", text));

        assertEquals(
                "a key has half of a surrogate pair, U+" + half + ", as character " + character
                        + ": UTF-8 cannot encode it",
                refused.getMessage());
    }

    @Test
    void aJobIdWithAHalfSurrogatePairIsRefused() {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> Settings.JOB_ID.read("run \uD83D"));

        assertEquals(true, refused.getMessage().contains("U+D83D, as character 5"), refused.getMessage());
    }
}

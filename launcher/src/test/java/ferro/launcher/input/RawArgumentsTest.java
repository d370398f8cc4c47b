package ferro.launcher.input;

import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Which arguments keep their bytes under which character set. */
class RawArgumentsTest {
    @Test
    void argumentsWithTheirOriginalBytesAreAccepted() {
        RawArguments.check(
                line("java\0Main\0run\0\u00e4\0\0", StandardCharsets.UTF_8), StandardCharsets.UTF_8, "\u00e4", "");
        RawArguments.check(line("java\0\u00e4\0", StandardCharsets.ISO_8859_1), StandardCharsets.ISO_8859_1, "\u00e4");
    }

    @Test
    void anArgumentWithChangedBytesIsNamedByItsNumber() {
        byte[] latin = line("java\0Main\0run\0\u00e4\0", StandardCharsets.ISO_8859_1);
        byte[] utf = line("java\0Main\0run\0\u00e4\0", StandardCharsets.UTF_8);

        String said = message(
                BadInputException.class, () -> RawArguments.check(latin, StandardCharsets.UTF_8, "run", "\ufffd"));
        assertThrows(BadInputException.class, () -> RawArguments.check(utf, StandardCharsets.US_ASCII, "run", "??"));

        assertStarts(said, "argument 2 has bytes that are invalid in UTF-8");
    }

    private static byte[] line(String text, Charset charset) {
        return text.getBytes(charset);
    }
}

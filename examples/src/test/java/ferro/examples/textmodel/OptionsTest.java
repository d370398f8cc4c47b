package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
    @Test
    void bothWaysOfGivingAValueAreUnderstood() {
        Options options = Options.parse("--text", "book.txt", "--steps=7", "--progress", "bar");

        assertEquals(Path.of("book.txt"), options.text());
        assertEquals(7, options.steps());
        assertTrue(options.bar());
    }

    @ParameterizedTest
    @CsvSource({
        "--steps, 0, --steps 0: need an integer from 1",
        "--batch, -4, --batch -4: need",
        "--seconds, soon, --seconds soon: need",
        "--sample, 99999999999, --sample 99999999999: need",
        "--seed, x, --seed x: need",
        "--progress, loud, --progress loud: need bar or lines",
        "--out, plot.jpg, --out plot.jpg: need",
        "--out, /no/such/folder/plot.png, cannot write to the folder /no/such/folder",
        "--epochs, 3, unknown option --epochs",
        "--resume, /no/such/folder, --resume /no/such/folder: there is no checkpoint"
    })
    void valuesThatMakeNoSenseAreNamed(String name, String value, String expected) {
        String message = assertThrows(UsageException.class, () -> Options.parse(name, value))
                .getMessage();

        assertTrue(message.contains(expected), message);
    }

    @Test
    void shardTakesNoValue() {
        assertTrue(Options.parse("--shard", "--steps", "7").state().shard());
        assertThrows(UsageException.class, () -> Options.parse("--shard=no"));
    }

    @Test
    void optionWithoutItsValueIsNamed() {
        String message = assertThrows(UsageException.class, () -> Options.parse("--batch"))
                .getMessage();

        assertTrue(message.contains("--batch needs a value"), message);
    }
}

package ferro.examples.textmodel;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
    @Test
    void aValueMayFollowABlankOrAnEqualsSign() {
        Options options = Options.parse("--text", "book.txt", "--steps=7");

        assertEquals(Path.of("book.txt"), options.text());
        assertEquals(7, options.number("--steps"));
        assertEquals(1024, options.number("--batch"));
    }

    @ParameterizedTest
    @CsvSource({
        "--steps, 0, --steps 0: need an integer from 1",
        "--batch, -4, --batch -4: need",
        "--seconds, soon, --seconds soon: need",
        "--batch, 99999999999, --batch 99999999999: need",
        "--seed, x, --seed x: need",
        "--chaos, 10, --chaos 10: need a time such as 10s",
        "--epochs, 3, unknown option --epochs"
    })
    void invalidValuesAreNamed(String name, String value, String expected) {
        assertInvalid(expected, name, value);
    }

    @Test
    void killsNeedRestartsAndCheckpoints() {
        assertInvalid("--chaos 10s without --restarts", "--chaos", "10s", "--checkpoints", "saved");
        assertInvalid("--chaos 10s without --checkpoints", "--chaos", "10s", "--restarts", "3");
        Options options = Options.parse("--chaos", "10s", "--restarts", "3", "--checkpoints", "saved", "--seed", "5");
        assertEquals(new KillSchedule(Duration.ofSeconds(10), 3, 5), options.chaos());
    }

    private static void assertInvalid(String expected, String... arguments) {
        assertRefused(IllegalArgumentException.class, () -> Options.parse(arguments), expected);
    }

    @Test
    void anOptionWithoutItsValueIsNamed() {
        assertInvalid("--batch needs a value", "--batch");
    }
}

package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallOptionsTest {
    private static final CallOptions PLAIN = CallOptions.of(Duration.ofSeconds(3));

    @Test
    void aCallIsNamedByItsKindAndItsLabel() {
        assertEquals("allReduce", PLAIN.named("allReduce"));
        assertEquals(
                "allReduce \"dense2.weight\"", PLAIN.labelled("dense2.weight").named("allReduce"));
    }

    @Test
    void labelsAndDeadlinesCombineInEitherOrder() {
        CallOptions both = CallOptions.of(Duration.ofSeconds(5), "loss");

        assertEquals(both, PLAIN.labelled("loss").within(Duration.ofSeconds(5)));
        assertEquals(both, PLAIN.within(Duration.ofSeconds(5)).labelled("grad").labelled("loss"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "a b", "Schicht \u00fc", "layers[3].attention/query:0", "\uD83D\uDE00"})
    void aLabelIsOneLineOfAnyText(String label) {
        assertEquals(label, PLAIN.labelled(label).label());
        assertEquals(128, PLAIN.labelled("x".repeat(128)).label().length());
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "'two\nlines',U+000A found as character 4",
        "'\u001b[31m',U+001B found as character 1",
        "'a\u202eb',U+202E found as character 2",
        "'say \"hi\"',U+0022 found as character 5",
        "'   ',3 characters",
        "'',found \"\"",
    })
    void anInvalidLabelIsRefusedWithItsWrongCharacter(String label, String why) {
        refusal(label, why.split(" found as "));
    }

    @Test
    void aHalfCharacterAndATooLongLabelAreRefused() {
        refusal("ab\uD83D", "U+D83D", "character 3");
        refusal("x".repeat(129), "found 129", "1 to 128");
        assertThrows(NullPointerException.class, () -> PLAIN.labelled(null));
    }

    private static void refusal(String label, String... parts) {
        String text = assertThrows(IllegalArgumentException.class, () -> PLAIN.labelled(label))
                .getMessage();
        for (String part : parts) {
            assertTrue(text.contains(part), text);
        }
    }
}

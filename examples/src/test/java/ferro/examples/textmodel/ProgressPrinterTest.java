package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressPrinterTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void plainLinesComeEveryFewSeconds() {
        String text = progress("lines");

        assertEquals(4, text.lines().count(), text);
        assertFalse(text.contains("\r"), text);
        assertTrue(text.contains("  4.0 s  step 4  loss 2.500      200 characters/s  25 % communicating"), text);
    }

    @Test
    void barIsOneLineThatRedrawsItself() {
        String text = progress("bar");

        assertEquals(1, text.chars().filter(each -> each == '\n').count(), text);
        String[] states = text.split("\r");
        assertEquals(11, states.length, text);
        assertTrue(states[0].startsWith("[#-----------]  10 %  loss 2.500 "), text);
        assertTrue(states[9].startsWith("[############] 100 %  loss 2.500 "), text);
        for (String state : states) {
            assertTrue("[0] ".length() + state.stripTrailing().length() < 80, state);
        }
    }

    private static String progress(String kind) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        ProgressPrinter printer = new ProgressPrinter(out, Options.parse("--progress", kind, "--steps", "10"));
        for (int step = 0; step < 10; step++) {
            printer.accept(new TrainingStep(step, 2.5, 200, step * SECOND, (step + 1) * SECOND, SECOND / 4));
        }
        printer.finish();
        return bytes.toString(StandardCharsets.UTF_8);
    }
}

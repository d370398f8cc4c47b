package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.function.Executable;

/** Assertions about texts, which show the text if they fail. */
public final class Said {
    private Said() {}

    public static void assertHas(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), () -> "\"" + part + "\" is not in: " + text);
        }
    }

    public static void assertLacks(String text, String... parts) {
        for (String part : parts) {
            assertFalse(text.contains(part), () -> "\"" + part + "\" is in: " + text);
        }
    }

    public static void assertStarts(String text, String start) {
        assertTrue(text.startsWith(start), () -> "\"" + start + "\" is not the start of: " + text);
    }

    /** Returns the message of the exception that a task throws. */
    public static String message(Class<? extends Throwable> type, Executable task) {
        return assertThrows(type, task).getMessage();
    }
}

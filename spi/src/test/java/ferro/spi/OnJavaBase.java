package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program on a runtime that has nothing but java.base. */
public final class OnJavaBase {
    private static final long CHILD_SECONDS = 60;

    private OnJavaBase() {}

    /** Returns what the program has printed, after it has ended well. */
    public static String output(Class<?> program, Path folder) throws Exception {
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--limit-modules",
                        "java.base",
                        "-cp",
                        classPath(RankContext.class) + File.pathSeparator + classPath(OnJavaBase.class),
                        program.getName(),
                        folder.toString()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(child.waitFor(CHILD_SECONDS, TimeUnit.SECONDS), "the child did not end");
        } finally {
            child.destroyForcibly();
        }
        String text = Files.readString(output);
        assertEquals(0, child.exitValue(), text);
        return text;
    }

    private static Path classPath(Class<?> type) throws Exception {
        Path file = Path.of(type.getResource(type.getSimpleName() + ".class").toURI());
        return file.resolve("../../..").normalize();
    }
}

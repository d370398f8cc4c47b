package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("text")
class TimesTest {
    /** Stands for a JVM of tests: starts one JVM that works for a while, and writes the report of one class. */
    private static final String TESTS = """
            import java.nio.file.*;

            class Tests {
                public static void main(String[] arguments) throws Exception {
                    for (long end = System.nanoTime() + 1_000_000_000L; arguments[0].equals("work") && System.nanoTime() < end; ) {}
                    if (arguments[0].equals("work")) {
                        return;
                    }
                    String java = ProcessHandle.current().info().command().get();
                    new ProcessBuilder(java, "Tests.java", "work").inheritIO().start().waitFor();
                    Path reports = Files.createDirectories(Path.of("one/target/surefire-reports"));
                    Files.writeString(
                            reports.resolve("TEST-a.FirstTest.xml"),
                            "<testsuite a=\\"b\\" name=\\"a.FirstTest\\" time=\\"1,002.5\\">\\n"
                                    + "<property name=\\"sun.java.command\\" value=\\"a.Booter /tmp surefire-12_1tmp surefire_0-12_2tmp\\"/>");
                }
            }
            """;

    private static final Pattern ROW =
            Pattern.compile("\\| (\\S+) \\| 1 \\| 1002\\.5 \\| ([0-9.]+) \\| ([0-9.]+) \\| (\\d+) \\|");

    @TempDir
    private Path folder;

    @Test
    void theCountOfStartedJvmsIsPrintedAndTheExitCodeKept() throws Exception {
        ConfigProgram program =
                ConfigProgram.compile("config/figures/Times.java", Files.createDirectory(folder.resolve("classes")));
        Files.writeString(folder.resolve("Tests.java"), TESTS);

        ConfigProgram.Run run = program.run(folder, Jvm.java(), "Tests.java", "surefire_0-12_2tmp");

        assertEquals(0, run.exit(), run::text);
        List<Matcher> rows = run.printed().stream()
                .map(ROW::matcher)
                .filter(Matcher::matches)
                .toList();
        assertEquals(
                List.of("one", "all", "a.FirstTest"),
                rows.stream().map(row -> row.group(1)).toList(),
                run::text);
        for (Matcher row : rows) {
            assertEquals("1", row.group(4), run::text);
            assertTrue(Double.parseDouble(row.group(3)) >= 0.5, run::text);
            assertTrue(Double.parseDouble(row.group(2)) > 0, run::text);
        }
        assertEquals(3, program.run(folder, "sh", "-c", "exit 3").exit());
    }
}

package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs of {@code config/figures}, and the table of docs/architecture.md that one of them prints. */
@Timeout(150)
@Tag("text")
class FiguresTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Pattern COMPLETE = Pattern.compile(".* (\\d+) of \\1 \\|");
    private static final Pattern PACKAGE = Pattern.compile("`([a-z.]+)` (\\d+)");

    private static final String FIRST = """
            package a;

            import b.Third;

            /** Seen. */
            public final class First extends Second {
                // no "text
                static final String TEXT = "// no comment";

                public int undocumented() {
                    return Third.of(this, 1);
                }

                /** Documented. */
                public void fails() {
                    if (TEXT.isEmpty()) {
                        throw new IllegalStateException("no " + "value");
                    } else if (TEXT.isBlank()) {
                        throw new FerroException(Code.ABORTED, "no value");
                    }
                    throw new IllegalStateException("found " + TEXT);
                }
            }
            """;

    private static final String SECOND = """
            package a;

            import b.Third;

            abstract class Second {
                /**
                 * Hidden.
                 *
                 * @param count any
                 * @return never
                 * @throws IllegalStateException always
                 */
                public int says(int count) {
                    throw new IllegalStateException("second " + count);
                }

                /**
                 * Hidden.
                 *
                 * @throws IllegalStateException always
                 */
                public void saysEnough() {}

                /** See {@link Third}. */
                public void saysNothing() {}

                /**
                 * Hidden.
                 *
                 * @return count
                 * @throws IllegalStateException always
                 */
                public int saysNoParameter(int count) {
                    return count;
                }

                /**
                 * Hidden.
                 *
                 * @param count any
                 * @throws IllegalStateException always
                 */
                public int saysNoResult(int count) {
                    return count;
                }

                record Named(int value) {}
            }
            """;

    private static final String THIRD = """
            package b;

            import a.First;

            public final class Third {
                static int of(First first, int count) {
                    int hash = first.hashCode();
                    return hash + count;
                }

                enum Named {
                    ONE
                }
            }
            """;

    private static final String PRINTED = """
            | method lines p50/p95/p99/max | 1/6/6/6 |
            | file lines p50/p95/max | 23/48/48 |
            | public types with Javadoc | 1 of 2: `Third` |
            | public methods with Javadoc | 1 of 2: `First.undocumented` |
            | public methods of package-private superclasses with all tags | 2 of 5: `Second.saysNothing`, \
            `Second.saysNoParameter`, `Second.saysNoResult` |
            | simple type names used twice or more | 1: `Named` 2 |
            | largest packages, types | `a` 2, `b` 1, `c` 1 |
            | one-line delegations | 1 of 8 methods |
            | package cycles | 1: [[a, b]] |
            | largest knots of classes | `a` and `b` 2 |
            | `throw new` with a value | 50 % of 4, without: `a.First` 2 |
            | one: lines, of code | 85, 40 |
            | two: lines, of code | 1, 1 |
            | all modules: lines, of code | 86, 41 |
            """;

    @TempDir
    private Path folder;

    @Test
    void thePageHasARowForEachFigureAndGoalsThatAreMetStayMet() throws Exception {
        List<String> page = Files.readAllLines(CHECKOUT.resolve("docs/architecture.md"));
        int begin = page.indexOf("## Figures");
        List<String> rows = page.subList(begin, page.size()).stream()
                .dropWhile(line -> !line.startsWith("|---"))
                .skip(1)
                .takeWhile(line -> line.startsWith("| "))
                .map(FiguresTest::measure)
                // counted by a test, with the stack of a call
                .filter(measure -> !measure.startsWith("frames "))
                .toList();

        List<String> printed = figures(CHECKOUT);

        assertEquals(printed.stream().map(FiguresTest::measure).toList(), rows, "measures of docs/architecture.md");
        assertTrue(printed.contains("| package cycles | 0 |"), printed::toString);
        assertTrue(
                printed.stream().anyMatch(row -> row.matches("\\| `throw new` with a value \\| 100 % of \\d+ \\|")),
                printed::toString);
        assertEquals(List.of(), incomplete(page, printed));
        // both are public: of a StagedLink, and of DeviceMemory
        String names = "| simple type names used twice or more | 1: `Staging` 2 |";
        assertTrue(printed.contains(names), printed::toString);
        for (Map.Entry<String, Integer> one : largestPackages(printed).entrySet()) {
            // each page of the guide adds programs of one file there
            assertTrue(one.getValue() <= 40 || one.getKey().equals("ferro.examples.guide"), one::toString);
        }
    }

    /** Rows whose goal is all, and that have less. */
    private static List<String> incomplete(List<String> page, List<String> printed) {
        List<String> goals = page.stream()
                .filter(row -> row.startsWith("| ") && row.split(" \\| ")[1].equals("all"))
                .map(FiguresTest::measure)
                .toList();
        assertEquals(3, goals.size(), goals::toString);
        return printed.stream()
                .filter(row ->
                        goals.contains(measure(row)) && !COMPLETE.matcher(row).matches())
                .toList();
    }

    private static Map<String, Integer> largestPackages(List<String> printed) {
        String row = printed.stream()
                .filter(line -> line.startsWith("| largest packages, types |"))
                .findFirst()
                .orElseThrow();
        Map<String, Integer> types = new TreeMap<>();
        Matcher one = PACKAGE.matcher(row);
        while (one.find()) {
            types.put(one.group(1), Integer.valueOf(one.group(2)));
        }
        assertEquals(4, types.size(), row);
        return types;
    }

    private static String measure(String row) {
        return row.split(" \\| |^\\| ")[1];
    }

    @Test
    @Tag("long")
    void eachIsCountedAsItsFirstLinesSay() throws Exception {
        write("one/src/main/java/a/First.java", FIRST);
        write("one/src/main/java/a/Second.java", SECOND);
        write("one/src/main/java/b/Third.java", THIRD);
        write("two/src/main/java/c/Fourth.java", "package c; final class Fourth { a.First first; }\n");
        write("two/src/test/java/c/Fifth.java", "package c; final class Fifth { no code }\n");

        assertEquals(PRINTED.lines().toList(), figures(folder));
    }

    @Test
    void theLinesOfTwoCommitsAreComparedByModule() throws Exception {
        run(folder, "git", "init", "-q");
        write("one/src/main/java/a/First.java", FIRST);
        write("one/src/test/java/a/FirstTest.java", "one\ntwo\n");
        write("two/src/main/java/c/Second.java", SECOND);
        commit();
        write("one/src/main/java/a/First.java", "one\ntwo\nthree\n");
        write("one/src/test/java/a/FirstTest.java", "one\ntwo\nthree\n");
        write("three/src/main/java/d/Third.java", "one\n");
        write("three/src/main/java/d/no-java.txt", "one\n");
        commit();

        String program =
                CHECKOUT.resolve("config/figures/Lines.java").toRealPath().toString();
        List<String> command = List.of(LauncherRun.java(), program, "HEAD~1", "HEAD", "one,three");

        assertEquals(
                List.of(
                        "| one | 23 | 3 | -20 | 2 | 3 | +1 |",
                        "| three | 0 | 1 | +1 | 0 | 0 | 0 |",
                        "| sum | 23 | 4 | -19 | 2 | 3 | +1 |"),
                run(folder, command.toArray(String[]::new)).subList(2, 5));
    }

    private void commit() throws IOException, InterruptedException {
        run(folder, "git", "add", ".");
        run(folder, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "next");
    }

    private void write(String path, String text) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private List<String> figures(Path checkout) throws IOException, InterruptedException {
        Path program = CHECKOUT.resolve("config/figures/Figures.java").toRealPath();
        return run(
                CHECKOUT,
                LauncherRun.java(),
                program.toString(),
                checkout.toRealPath().toString());
    }

    private List<String> run(Path directory, String... command) throws IOException, InterruptedException {
        Path printed = Files.createTempFile(folder, "printed", ".txt");
        Path errors = Files.createTempFile(folder, "errors", ".txt");
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(printed.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            assertTrue(process.waitFor(120, TimeUnit.SECONDS), () -> "still running: " + List.of(command));
            assertEquals(0, process.exitValue(), Files.readString(errors));
            return Files.readAllLines(printed);
        } finally {
            process.destroyForcibly();
        }
    }
}

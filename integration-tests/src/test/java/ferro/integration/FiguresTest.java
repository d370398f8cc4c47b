package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.integration.ConfigProgram.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs of {@code config/figures}, and the table of CONTRIBUTING.md that one of them prints. */
@Timeout(150)
@Tag("text")
class FiguresTest extends PlantedCheckout {
    private static final String LIMITS = "config/figures/limits.csv";
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
            | superclasses without an outside user | 1 |
            | internal interfaces with one implementation | 0 |
            | internal types under 60 lines with one user | 2 |
            | types with one user | 2 |
            | files over 500 lines | 0 |
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
            """;

    @TempDir
    private static Path classes;

    private static ConfigProgram figures;
    private static ConfigProgram lines;

    @BeforeAll
    static void compile() {
        figures = ConfigProgram.compile("config/figures/Figures.java", classes);
        lines = ConfigProgram.compile("config/figures/Lines.java", classes);
    }

    @Test
    void thePageHasARowForEachFigureAndReachedGoalsStayReached() throws Exception {
        List<String> page = Files.readAllLines(CHECKOUT.resolve("CONTRIBUTING.md"));
        int begin = page.indexOf("## Figures");
        List<String> rows = page.subList(begin, page.size()).stream()
                .dropWhile(line -> !line.startsWith("|---"))
                .skip(1)
                .takeWhile(line -> line.startsWith("| "))
                .map(FiguresTest::measure)
                // counted by a test, with the stack of a call
                .filter(measure -> !measure.startsWith("frames "))
                .toList();

        List<String> printed =
                printed(figures, 0, CHECKOUT, CHECKOUT.toRealPath().toString());

        assertEquals(printed.stream().map(FiguresTest::measure).toList(), rows, "measures of CONTRIBUTING.md");
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

    @Test
    void generatedCallFormsAreDocumented() throws Exception {
        for (String path : List.of(
                "src/main/java/ferro/group/ProcessGroup", "target/generated-sources/templates/ferro/group/CallForms")) {
            Path source = CHECKOUT.resolve("collectives/" + path + ".java");
            write("one/src/main/java/ferro/group/" + source.getFileName(), Files.readString(source));
        }
        List<String> printed = printed(figures, 0, CHECKOUT, folder.toString());
        List<String> page = Files.readAllLines(CHECKOUT.resolve("CONTRIBUTING.md"));
        assertEquals(List.of(), incomplete(page, printed));
    }

    @Test
    void noModuleExceedsALimitOfItsFigures() throws Exception {
        List<String> rows = printed(figures, 0, CHECKOUT, "--limits");

        assertTrue(rows.contains("| all | reasons | 1 | 1 |"), rows::toString);
    }

    @Test
    void duplicateTypesAndAModuleAboveItsLimitAreReported() throws Exception {
        write("one/src/main/java/module-info.java", "module one {\n    exports b;\n}\n");
        write("one/src/main/java/a/Base.java", "package a; /** Base. */ abstract class Base {}" + "\n".repeat(501));
        write("one/src/main/java/a/Single.java", "package a; public interface Single {}\n");
        write("one/src/main/java/a/Reasoned.java", "package a; final class Reasoned {}" + "\n".repeat(501));
        write("one/src/main/templates/any.template", "any helper");
        String nested = "    record Nested(int value) {" + "\n".repeat(14) + "}\n    record Large() {" + "\n".repeat(15)
                + "}\n";
        write(
                "one/src/main/java/a/Child.java",
                "package a; public final class Child extends Base implements Single {\n    Helper one; Reasoned two;\n"
                        + nested + "}\n");
        write("one/src/main/java/a/Helper.java", "package a; final class Helper { Child child; }\n");
        write(
                "one/src/main/java/b/Open.java",
                "package b; import a.Child; import a.Single; public class Open { Child child; Single single; }\n");
        write(
                "one/src/main/java/b/Used.java",
                "package b; public class Used extends Open { a.Child.Nested nested; a.Child.Large large; }\n");
        write("config/figures/reasons.csv", "type,reason\na.Reasoned,planted\n");
        write(LIMITS, """
                module,figure,limit
                one,superclasses without an outside user,1
                one,internal interfaces with one implementation,1
                one,internal types under 60 lines with one user,1
                one,types with one user,9
                all,reasons,1
                all,files over 500 lines,1
                """);

        List<String> rows = printed(figures, 1, folder, "--shrink");
        List<String> names = printed(figures, 0, folder, "--limits", "one");

        assertEquals(
                List.of(
                        "| one | superclasses without an outside user | 1 | 1 |",
                        "| one | internal interfaces with one implementation | 1 | 1 |",
                        "| one | internal types under 60 lines with one user | 3 | 1: **above** |",
                        "| one | types with one user | 4 | 9 |",
                        "| all | reasons | 1 | 1 |",
                        "| all | files over 500 lines | 2 | 1: **above** |",
                        "| all | files of exclusive scan | 0 | none: **above** |",
                        "| all | files over 500 lines without a first sentence | 1 | none: **above** |",
                        "| one | largest knot of classes | 2 | none: **above** |",
                        "| one | files over 500 lines | 2 | none: **above** |"),
                rows);
        assertTrue(names.containsAll(List.of("types with one user: 4", "  b.Open")), names::toString);
        assertTrue(Files.readString(folder.resolve(LIMITS)).contains("one,types with one user,4\n"));
        List<String> feature = printed(figures, 0, folder, "--feature", "HELPER?");
        assertEquals(List.of("one: 3", "all: 3"), List.of(feature.get(0), feature.get(4)), feature::toString);
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
    void eachFigureIsCountedAsDocumented() throws Exception {
        write("one/src/main/java/a/First.java", FIRST);
        write("one/src/main/java/a/Second.java", SECOND);
        write("one/src/main/java/b/Third.java", THIRD);
        write("two/src/main/java/c/Fourth.java", "package c; final class Fourth { a.First first; }\n");
        write("two/src/test/java/c/Fifth.java", "package c; final class Fifth { no code }\n");

        assertEquals(PRINTED.lines().toList(), printed(figures, 0, CHECKOUT, folder.toString()));
    }

    @Test
    void theLinesOfTwoCommitsAreComparedByModule() throws Exception {
        git(folder, "init -q");
        write("one/src/main/java/a/First.java", FIRST);
        write("one/src/test/java/a/FirstTest.java", "one\ntwo\n");
        write("two/src/main/java/c/Second.java", SECOND);
        commit();
        write("one/src/main/java/a/First.java", "one\ntwo\nthree\n");
        write("one/src/test/java/a/FirstTest.java", "one\ntwo\nthree\n");
        write("three/src/main/java/d/Third.java", "// one\nimport a;\n\nfour\n");
        write("three/src/main/java/d/no-java.txt", "one\n");
        commit();

        assertEquals(
                List.of(
                        "| one main | 23 | 3 | -20 | 15 | 3 | -12 | 0 | 23 | 0 | 3 |",
                        "| one test | 2 | 3 | +1 | 2 | 3 | +1 | 0 | 0 | 0 | 1 |",
                        "| three main | 0 | 4 | +4 | 0 | 1 | +1 | 0 | 0 | 0 | 4 |",
                        "| all | 25 | 10 | -15 | 17 | 7 | -10 | 0 | 23 | 0 | 8 |"),
                compared("HEAD~1", "HEAD", "one,three"));
    }

    @Test
    void aMovedLineIsNotCountedAsRemoved() throws Exception {
        git(folder, "init -q");
        write("one/src/main/java/a/First.java", FIRST);
        write("one/src/main/java/a/Second.java", SECOND);
        commit();
        // one file goes to the tests with a new line, and a method of another into a nested type of a new file
        write("one/src/test/java/a/First.java", FIRST + "// new\n");
        Files.delete(folder.resolve("one/src/main/java/a/First.java"));
        String method = "    public int saysNoParameter(int count) {\n        return count;\n    }\n";
        assertTrue(SECOND.contains(method), SECOND);
        write("one/src/main/java/a/Second.java", SECOND.replace(method, ""));
        write("tools/Third.java", "class Third {\n    class Fourth {\n" + method.indent(4) + "    }\n}\n");
        commit();

        int first = (int) FIRST.lines().count();
        int second = (int) SECOND.lines().count();
        List<String> rows = compared("HEAD~1", "HEAD");

        String one = "| one main | " + (first + second) + " | " + (second - 3) + " | -" + (first + 3) + " |";
        assertTrue(rows.get(0).startsWith(one), rows.get(0));
        // a brace stands everywhere
        assertTrue(rows.get(0).endsWith("| " + (first + 2) + " | 1 | 0 | 0 |"), rows.get(0));
        assertTrue(rows.get(1).endsWith("| 0 | 0 | " + first + " | 1 |"), rows.get(1));
        assertTrue(rows.get(2).startsWith("| tools tools |"), rows.get(2));
        assertTrue(rows.get(2).endsWith("| 0 | 0 | 2 | 5 |"), rows.get(2));
    }

    @Test
    void noModuleExceedsItsLineLimitAndTheSumOfLimitsNeverGrows() throws Exception {
        List<String> rows = printed(lines, 0, CHECKOUT);

        assertTrue(rows.stream().noneMatch(row -> row.contains("above")), () -> String.join("\n", rows));
        String now = Files.readString(CHECKOUT.resolve(LIMITS));
        assertEquals(sumOfLimits(now, false), sumOfLimits(now, true), "the row of all is the sum of the others");
        // a copy of the sources without git has no earlier limits
        List<String> changes = Files.exists(CHECKOUT.resolve(".git"))
                ? git(CHECKOUT, "-c safe.directory=* log -p -U0 --format= --no-color --no-ext-diff -- " + LIMITS)
                : List.of();
        int least = changes.stream()
                .filter(line -> line.startsWith("+all,code,"))
                .mapToInt(line -> Integer.parseInt(line.substring(10)))
                .min()
                .orElse(Integer.MAX_VALUE);
        assertTrue(sumOfLimits(now, true) <= least, "the limit of all lines of code was " + least);
    }

    @Test
    void aModuleAboveItsLimitIsNamedAndLimitsOnlyShrink() throws Exception {
        write("one/src/main/java/a/First.java", "one\ntwo\n");
        write("two/src/main/java/a/Second.java", "one\ntwo\n");
        write(LIMITS, "module,figure,limit\none,code,1\ntwo,code,7\nall,code,8\n");

        List<String> rows = printed(lines, 1, folder, "--shrink");

        assertEquals("| one | 2 | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 2 | 2 | 1: **above** |", rows.get(2));
        assertEquals("| two | 2 | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 2 | 2 | 2 |", rows.get(3));
        assertEquals("| all | 4 | 4 | 0 | 0 | 0 | 0 | 0 | 0 | 4 | 4 | 3: **above** |", rows.get(4));
        assertEquals(
                "module,figure,limit\none,code,1\ntwo,code,2\nall,code,3\n", Files.readString(folder.resolve(LIMITS)));
        git(folder, "init -q");
        assertEquals(rows, printed(lines, 1, folder, "--shrink"), "with git, which knows no file");
    }

    /** Returns the limit of lines of code of all modules, or the sum of the others. */
    private static int sumOfLimits(String limits, boolean isWritten) {
        return limits.lines()
                .map(line -> line.split(","))
                .filter(fields -> fields[1].equals("code") && fields[0].equals("all") == isWritten)
                .mapToInt(fields -> Integer.parseInt(fields[2]))
                .sum();
    }

    private List<String> compared(String... arguments) throws Exception {
        List<String> rows = printed(lines, 0, folder, arguments);
        return rows.subList(2, rows.size());
    }

    private void commit() throws IOException, InterruptedException {
        git(folder, "add .");
        git(folder, "-c user.name=a -c user.email=a@b commit -q -m next");
    }

    private static List<String> git(Path directory, String words) throws IOException, InterruptedException {
        return Child.run(directory, ("git " + words).split(" ")).lines().toList();
    }

    private static List<String> printed(ConfigProgram program, int exit, Path directory, String... arguments)
            throws IOException, InterruptedException {
        Run run = program.run(directory, arguments);
        assertEquals(exit, run.exit(), run::text);
        return run.printed();
    }
}

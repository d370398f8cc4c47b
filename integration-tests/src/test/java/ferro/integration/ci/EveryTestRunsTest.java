package ferro.integration.ci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code .ci/run} executes every test of the sources but those of {@code .ci/left-out.csv}. The last step of {@code .ci/run} runs
 * this class with {@code -Dci.finished=true}.
 */
class EveryTestRunsTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path LEFT_OUT = CHECKOUT.resolve(".ci/left-out.csv");
    private static final int MOST_LEFT_OUT = 10;
    private static final String SOURCE = """
            package some;
            import org.junit.jupiter.api.Test;
            abstract class Rules { @Test void isKept() {} }
            class OneTest extends Rules { @Test void runs() {} @Test void isSkipped() {} @Test void neverRuns() {} }
            class OtherTest extends Rules { static class Nested { @Test void isNotRunBySurefire() {} } }
            """;
    private static final String REPORT = """
            <testsuite>
            <testcase name="runs(int, String)[2]" classname="some.OneTest"/>
            <testcase name="isKept" classname="some.OneTest"/>
            <testcase name="isSkipped" classname="some.OneTest"><skipped message="no gcc"/></testcase>
            </testsuite>
            """;

    @TempDir
    private Path folder;

    @Test
    void aTestThatIsNeverExecutedIsFound() throws IOException {
        Path sources = Files.createDirectories(folder.resolve("module/src/test/java/some"));
        Path source = Files.writeString(sources.resolve("OneTest.java"), SOURCE);
        Path reports = Files.createDirectories(folder.resolve("module/target/surefire-reports"));
        Files.writeString(reports.resolve("TEST-some.OneTest.xml"), REPORT);

        Set<String> missing = missing(DeclaredTests.of(List.of(source)), ExecutedTests.below(folder));

        assertEquals(Set.of("some.OneTest#isSkipped", "some.OneTest#neverRuns", "some.OtherTest"), missing);
    }

    @Test
    void atMostTenTestsAreLeftOutEachWithAReason() throws IOException {
        DeclaredTests declared = DeclaredTests.of(sources());
        Set<String> known = new TreeSet<>(declared.testClasses());
        declared.methods().forEach((type, names) -> names.forEach(name -> known.add(type + "#" + name)));

        Map<String, String> leftOut = leftOut();

        assertTrue(leftOut.size() <= MOST_LEFT_OUT, () -> LEFT_OUT + " has more than " + MOST_LEFT_OUT + " rows");
        leftOut.forEach((test, reason) -> {
            assertTrue(known.contains(test), () -> LEFT_OUT + " names a test that does not exist: " + test);
            assertTrue(reason.length() > 20, () -> LEFT_OUT + " gives no reason for " + test);
        });
        Set<String> neverRun = declared.testClasses();
        neverRun.removeIf(type -> type.endsWith("Test") || leftOut.containsKey(type));
        assertEquals(Set.of(), neverRun, "Surefire runs classes whose names end in Test");
    }

    @Test
    void everyFuzzTestHasItsKeptInputsWhereJazzerFindsThem() throws IOException {
        Map<String, Set<String>> methods = DeclaredTests.of(sources()).methods();
        for (Path source : sources()) {
            if (source.toString().endsWith("FuzzTest.java")) {
                String type = source.toString().replaceFirst(".*/src/test/java/(.*)\\.java", "$1");
                Path inputs = Path.of(source.toString().replaceFirst("/java/(.*)\\.java", "/resources/$1Inputs"));
                Set<String> folders = new TreeSet<>(List.of(inputs.toFile().list()));
                assertEquals(methods.get(type.replace('/', '.')), folders, inputs::toString);
            }
        }
    }

    @Test
    void everyPlantedMistakeNamesAMethodAndATestThatExist() throws IOException {
        Set<String> tests = new TreeSet<>();
        DeclaredTests.of(sources()).methods().values().forEach(tests::addAll);
        List<String> rows = Files.readAllLines(CHECKOUT.resolve("config/mistakes.csv"));
        for (String row : rows.subList(1, rows.size())) {
            String[] at = row.split(",")[1].split("#");
            assertTrue(Files.readString(CHECKOUT.resolve(at[0])).contains(at[1] + "("), row);
            assertTrue(tests.contains(row.substring(row.lastIndexOf('#') + 1)), row);
        }
    }

    @Test
    void everyTestThatIsNotLeftOutWasExecuted() throws IOException {
        assumeTrue(Boolean.getBoolean("ci.finished"), "only the last step of .ci/run has the reports of all its steps");
        Set<String> missing = missing(DeclaredTests.of(sources()), ExecutedTests.below(CHECKOUT));
        Set<String> leftOut = leftOut().keySet();
        missing.remove(EveryTestRunsTest.class.getName() + "#everyTestThatIsNotLeftOutWasExecuted");
        missing.removeIf(test -> leftOut.contains(test) || leftOut.contains(test.replaceFirst("#.*", "")));

        assertEquals(
                "",
                String.join("\n", missing),
                () -> "tests that .ci/run did not execute: run them there, or name them in " + LEFT_OUT
                        + " with a reason");
    }

    /** Returns the test methods that no class has executed, and the classes that have executed nothing. */
    private static Set<String> missing(DeclaredTests declared, ExecutedTests executed) {
        Map<String, Set<String>> executedByType = new TreeMap<>();
        executed.methods()
                .forEach((type, names) -> declared.withSupertypes(type)
                        .forEach(each -> executedByType
                                .computeIfAbsent(each, key -> new TreeSet<>())
                                .addAll(names)));
        Set<String> missing = new TreeSet<>();
        declared.methods()
                .forEach((type, names) -> names.stream()
                        .filter(name ->
                                !executedByType.getOrDefault(type, Set.of()).contains(name))
                        .forEach(name -> missing.add(type + "#" + name)));
        declared.testClasses().stream()
                .filter(type -> !executed.methods().containsKey(type))
                .forEach(missing::add);
        return missing;
    }

    private static Map<String, String> leftOut() throws IOException {
        Map<String, String> rows = new TreeMap<>();
        for (String line : Files.readAllLines(LEFT_OUT)) {
            int comma = line.indexOf(',');
            rows.put(line.substring(0, comma), line.substring(comma + 1).strip());
        }
        rows.remove("test");
        return rows;
    }

    /**
     * Returns the Java files of all modules that have tests, and of the kit, whose rules are tests. StagedProjectsTest runs the test of
     * the starter.
     */
    private static List<Path> sources() throws IOException {
        return Checkout.endingWith(".java").stream()
                .filter(file -> CHECKOUT.relativize(file)
                        .toString()
                        .matches("(?!examples/starter/)[\\w-]+(/[\\w-]+)?/src/test/java/.*|tck/src/main/java/.*"))
                .toList();
    }
}

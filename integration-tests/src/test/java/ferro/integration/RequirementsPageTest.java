package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/requirements.md against the tests: every id has its row, every row its class and its tests. */
@Tag("text")
class RequirementsPageTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path PAGE = CHECKOUT.resolve("docs/requirements.md");
    private static final String OWN = RequirementsPageTest.class.getSimpleName();
    /** More would make the rows unreadable; a contract kit alone has dozens for some. */
    private static final int MOST_TESTS = 3;

    private final List<Requirement> rows = Requirement.read(PAGE);
    private final NamedTests tests = NamedTests.of(CHECKOUT);

    RequirementsPageTest() throws IOException {}

    @Test
    void everyRowNamesAClassAndTestsThatNameItsId() {
        if (Boolean.getBoolean("requirements.print")) {
            rows.forEach(row -> System.out.println(corrected(row)));
        }

        String wrong = rows.stream()
                .filter(row -> !whatIsWrong(row).isEmpty())
                .map(row -> corrected(row) + whatIsWrong(row).stream().collect(Collectors.joining("; ", "   <- ", "")))
                .collect(Collectors.joining("\n"));

        assertEquals("", wrong, "rows of docs/requirements.md as they should be, and what is wrong with them");
    }

    @Test
    void everyIdHasItsRow() {
        List<String> written = rows.stream().map(Requirement::id).toList();
        Set<String> twice = new LinkedHashSet<>();
        Set<String> seen = new HashSet<>();
        written.stream().filter(id -> !seen.add(id)).forEach(twice::add);
        List<String> missing =
                Requirement.allIds().stream().filter(id -> !seen.contains(id)).toList();

        assertEquals(List.of(), missing, "ids that docs/requirements.md lacks");
        assertEquals(Set.of(), twice, "ids that stand twice in docs/requirements.md");
        assertEquals(Requirement.allIds().size(), written.size(), "rows of docs/requirements.md");
    }

    @Test
    void noTestNamesAnIdThatThePageDoesNotKnow() {
        Set<String> known = rows.stream().map(Requirement::id).collect(Collectors.toSet());
        List<String> unknown = tests.idsByTest().entrySet().stream()
                .flatMap(test -> test.getValue().stream()
                        .filter(id -> !known.contains(id))
                        .map(id -> test.getKey() + " names " + id))
                .toList();

        assertEquals(List.of(), unknown, "ids in display names that docs/requirements.md lacks");
    }

    @Test
    void aTestThatDoesNotRunDoesNotCount(@TempDir Path checkout) throws IOException {
        Path folder = Files.createDirectories(checkout.resolve("some/src/test/java"));
        Files.writeString(folder.resolve("SomeTest.java"), """
                class SomeTest {
                    @Test @DisplayName("0-01: runs") void runs() {}
                    @RepeatedTest(2) @DisplayName("0-02 " + "REQ-3: runs twice") void runsTwice() {}
                    @Test @Disabled @DisplayName("0-03: is off") void isOff() {}
                    @DisplayName("0-04: was forgotten") void wasForgotten() {}
                    @Disabled class Off { @Test @DisplayName("0-05: is off with its class") void isOffToo() {} }
                }
                """);

        assertEquals(
                Map.of("SomeTest#runs", Set.of("0-01"), "SomeTest#runsTwice", Set.of("0-02", "REQ-3")),
                NamedTests.of(checkout).idsByTest());
    }

    private List<String> whatIsWrong(Requirement row) {
        List<String> wrong = new ArrayList<>();
        if (row.tests().isEmpty()) {
            wrong.add(tests.naming(row.id(), row.type()).isEmpty() ? "no test names it" : "a test names it");
        }
        if (!tests.types().contains(row.type())) {
            wrong.add("no class " + row.type());
        }
        if (row.toString().contains(OWN)) {
            wrong.add("this page's own test shows nothing but the page");
        }
        for (String test : row.tests()) {
            if (!tests.names(test, row.id())) {
                wrong.add(test
                        + (tests.idsByTest().containsKey(test)
                                ? " does not name it"
                                : " is no test that runs and has a @DisplayName"));
            }
        }
        return wrong;
    }

    /** The row with the tests of its own that are right, else those that name it, the nearest first. */
    private Requirement corrected(Requirement row) {
        List<String> kept =
                row.tests().stream().filter(test -> tests.names(test, row.id())).toList();
        List<String> found = tests.naming(row.id(), row.type());
        return row.with(kept.isEmpty() ? found.subList(0, Math.min(MOST_TESTS, found.size())) : kept);
    }
}

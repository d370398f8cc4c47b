package ferro.integration.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.integration.drill.DrillFault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/faults.md against the tests. After {@code mvn -B verify -Plong}, {@code -Dfaults.write=true} makes the page anew from the reports
 * of that build: {@code mvn -B test -pl integration-tests -am -Dtest=FaultsPageTest -Dfaults.write=true
 * -Dsurefire.failIfNoSpecifiedTests=false}; {@code -Dfaults.drill=target/drill-whole} takes up the figures of {@code -Pdrill}
 * instead.
 */
class FaultsPageTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path PAGE = CHECKOUT.resolve("docs/faults.md");
    private static final Path FOLDER = CHECKOUT.resolve("docs/faults");
    private static final String WRITE =
            "mvn -B verify -Plong; mvn -B test -pl integration-tests -am -Dtest=FaultsPageTest"
                    + " -Dfaults.write=true -Dsurefire.failIfNoSpecifiedTests=false";
    /** Rows that are promised by now; what is missing between them comes later. */
    private static final List<Integer> PROMISED = Stream.of(IntStream.rangeClosed(1, 29), IntStream.rangeClosed(31, 51))
            .flatMap(IntStream::boxed)
            .toList();

    /** Faults whose times the drill measures. */
    private static final List<DrillFault> DRILLED =
            Stream.of(DrillFault.values()).filter(DrillFault::isMeasured).toList();

    private static final String DRILL = "mvn -B package -Pdrill -pl integration-tests -am"
            + " -Dtest='*DrillTest,PairFailureTest,KilledDeviceRankTest,NetworkFaultsTest'"
            + " -Dsurefire.failIfNoSpecifiedTests=false, then the above with -Dfaults.drill=target/drill-whole";

    private static final String CELL_OF_ROW_2 = "2,kill -9; survivors stay,tcp,idle,64,4,";
    private static final String NOT_MEASURED = "- Rows 1, 2, 21: that 100 ms are kept where each rank has a core";

    /** Read once: all sources of all tests are searched for it. */
    private static FaultTests tests;

    @BeforeAll
    static void readAndMakeAnewIfAsked() throws IOException {
        tests = FaultTests.of(CHECKOUT);
        if (Boolean.getBoolean("faults.write")) {
            new FaultsPageTest().write();
        }
    }

    @Test
    void pageNamesTheTestsOfEveryRow() throws IOException {
        List<String> page = Files.readAllLines(PAGE);

        List<String> wrong = new ArrayList<>();
        for (FaultRow row : rows(page)) {
            Set<String> written = Stream.of(row.tests().split("<br>"))
                    .map(test -> test.replace("`", ""))
                    .filter(test -> !test.isEmpty())
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> named = new TreeSet<>(tests.naming(row.number()));
            if (!written.equals(named)) {
                wrong.add("row " + row.number() + " lists " + written + ", tests say " + named);
            }
        }

        assertEquals(List.of(), wrong, "rows of docs/faults.md that are stale; to make it anew: " + WRITE);
    }

    @Test
    void everyPromisedRowIsShownByATestOrItsMissExplained() throws IOException {
        List<String> page = Files.readAllLines(PAGE);

        assertEquals(PROMISED, rows(page).stream().map(FaultRow::number).toList());
        assertEquals(
                List.of(),
                PROMISED.stream()
                        .filter(row -> tests.naming(row).isEmpty())
                        .filter(row -> page.stream().noneMatch(line -> line.startsWith("- Row " + row + ":")))
                        .toList(),
                "rows that no test names, and no line of docs/faults.md that begins with \"- Row N:\" explains");
    }

    @Test
    void everyRowHasPassed() throws IOException {
        TestResults results = TestResults.kept(FOLDER.resolve("results.csv"));

        List<Integer> open = PROMISED.stream()
                .filter(row -> !tests.naming(row).isEmpty())
                .filter(row -> !results.arePassed(tests.naming(row).stream()
                        .flatMap(test -> running(test).stream())
                        .toList()))
                .toList();

        assertEquals(
                List.of(),
                open,
                "rows of which no test has passed, or one has failed or was not run, by results.csv; to make it anew: "
                        + WRITE);
    }

    @Test
    void drillHasMeasuredEveryFaultOverEveryMedium() throws IOException {
        DrillFigures drill = DrillFigures.kept(FOLDER.resolve("drill.csv"));

        List<String> missing = DRILLED.stream()
                .flatMap(fault -> fault.media().stream()
                        .flatMap(medium -> fault.loads().stream()
                                .filter(load -> !drill.hasMeasured(fault, medium, load))
                                .map(load -> "row " + fault.row() + ", " + fault + ", over " + medium + ", " + load)))
                .toList();

        assertEquals(List.of(), missing, "faults that docs/faults/drill.csv lacks; to measure them: " + DRILL);
    }

    @Test
    void whatIsMeasuredKeepsWhatIsPromised() throws IOException {
        assertEquals(
                List.of(),
                DrillFigures.kept(FOLDER.resolve("drill.csv")).broken(),
                "lines of docs/faults/drill.csv without a time, late, or with wrong or different blame; to measure: "
                        + DRILL);
    }

    @Test
    void everyLineOfTheDrillHasThePromiseOfItsFaultAndRunsEnough() throws IOException {
        assertEquals(
                List.of(),
                DrillFigures.kept(FOLDER.resolve("drill.csv")).unlikeTheirFault(),
                "lines of docs/faults/drill.csv that are not what their fault promises; to measure: " + DRILL);
    }

    @Test
    void aKillInACallIsHeardOfWithinAHundredMillisWhereEachRankHasACoreElseWithinTwoHundredAndFifty(
            @TempDir Path folder) throws IOException {
        assertEquals(List.of(), oddities(folder, 4, 99.9, 100));
        assertEquals(List.of(), oddities(folder, 3, 105, 250));
        assertEquals(
                List.of(
                        CELL_OF_ROW_2 + "4: promised_ms is 250, 100.0 is promised",
                        CELL_OF_ROW_2 + "4: 0 over 100.0, the worst 105.0"),
                oddities(folder, 4, 105, 250));
        assertEquals(
                List.of(CELL_OF_ROW_2 + "3: promised_ms is 100, 250.0 is promised"), oddities(folder, 3, 99.9, 100));
    }

    /** Returns what is odd about a line of row 2 whose four ranks had so many cores. */
    private static List<String> oddities(Path folder, int cores, double worstMillis, int promisedMillis)
            throws IOException {
        Path file = folder.resolve("drill.csv");
        String line = CELL_OF_ROW_2 + cores + ",32,96,31.5," + worstMillis + "," + promisedMillis + ",0,0,0";
        Files.writeString(file, DrillFigures.HEADER + "\n" + line + "\n");
        return DrillFigures.kept(file).unlikeTheirFault();
    }

    @Test
    void pageSaysItWhereTheBoundOfRanksWithACoreEachWasNotMeasured() throws IOException {
        DrillFigures drill = DrillFigures.kept(FOLDER.resolve("drill.csv"));

        boolean says = Files.readAllLines(PAGE).stream().anyMatch(line -> line.startsWith(NOT_MEASURED));

        assertEquals(!drill.hasMeasuredKills(true), says, "docs/faults.md has a line \"" + NOT_MEASURED + "\"");
    }

    @Test
    void whatIsMeasuredIsATimeAndNoCountOfTests() throws IOException {
        Set<Integer> drilled = DRILLED.stream().map(DrillFault::row).collect(Collectors.toSet());
        List<String> wrong = rows(Files.readAllLines(PAGE)).stream()
                .filter(row -> drilled.contains(row.number())
                        ? !row.measured().matches(".*worst \\d+\\.\\d ms.*")
                                || row.measured().contains("passed")
                        : !row.measured().equals("-"))
                .map(row -> "row " + row.number() + " says \"" + row.measured() + "\"")
                .toList();

        assertEquals(List.of(), wrong, "rows of docs/faults.md whose \"measured\" is no time of the drill; " + DRILL);
    }

    @Test
    void figuresAreThoseOfTheFilesBeside() throws IOException {
        List<String> page = Files.readAllLines(PAGE);

        assertEquals(String.join("\n", made(page)), String.join("\n", page), "to make it anew: " + WRITE);
    }

    private void write() throws IOException {
        List<String> runners = tests.all().stream()
                .flatMap(test -> running(test).stream())
                .sorted()
                .toList();
        String drilled = System.getProperty("faults.drill");
        if (drilled == null) {
            TestResults.kept(FOLDER.resolve("results.csv")).with(CHECKOUT).keep(FOLDER.resolve("results.csv"), runners);
        } else {
            // the reports beside are those of the drill, whose cases are no build's
            DrillFigures.sumUp(Path.of(drilled), FOLDER.resolve("drill.csv"));
        }
        Files.writeString(PAGE, String.join("\n", made(Files.readAllLines(PAGE))) + "\n");
    }

    private List<String> running(String test) {
        return tests.runners(test).stream()
                .map(type -> type + test.substring(test.indexOf('#')))
                .toList();
    }

    private static List<FaultRow> rows(List<String> page) {
        return page.stream().filter(FaultRow::isOne).map(FaultRow::parse).toList();
    }

    /** The page with everything that is not written by hand made from the files beside it. */
    private List<String> made(List<String> page) throws IOException {
        TestResults results = TestResults.kept(FOLDER.resolve("results.csv"));
        DrillFigures drill = DrillFigures.kept(FOLDER.resolve("drill.csv"));
        List<String> made = new ArrayList<>();
        boolean between = false;
        for (String line : page) {
            between &= !line.startsWith("<!-- end");
            if (!between) {
                made.add(FaultRow.isOne(line) ? made(FaultRow.parse(line), results, drill) : line);
            }
            if (line.equals("<!-- drill -->")) {
                made.addAll(drill.table().lines().toList());
                between = true;
            } else if (line.equals("<!-- peers -->")) {
                made.addAll(PeerFigures.kept(FOLDER.resolve("peers.csv"))
                        .table()
                        .lines()
                        .toList());
                between = true;
            }
        }
        return made;
    }

    private String made(FaultRow row, TestResults results, DrillFigures drill) {
        List<String> named = tests.naming(row.number());
        List<String> runners =
                named.stream().flatMap(test -> running(test).stream()).toList();
        List<String> measured = drill.inWords(row.number());
        return row.with(
                        measured.isEmpty() ? "-" : String.join("<br>", measured),
                        results.inWords(runners),
                        String.join(", ", tests.backEnds(named)),
                        named)
                .toString();
    }
}

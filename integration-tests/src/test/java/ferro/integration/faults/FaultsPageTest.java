package ferro.integration.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.integration.drill.DrillFault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares docs/faults.md and its annex with the tests. After {@code mvn -B verify -Plong} this command writes the annex from the
 * reports of that build: {@code mvn -B test -pl integration-tests -am -Dtest=FaultsPageTest -Dfaults.write=true
 * -Dsurefire.failIfNoSpecifiedTests=false}. With {@code -Dfaults.drill=target/drill-whole} it takes the figures of {@code -Pdrill}
 * instead of the reports. With {@code -Dfaults.write=annex} it writes the annex from the files in docs/faults alone.
 */
@Tag("text")
class FaultsPageTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path PAGE = CHECKOUT.resolve("docs/faults.md");
    private static final Path FOLDER = CHECKOUT.resolve("docs/faults");
    private static final String HEAD_OF_ROWS = "| row | fault | what ferro does | within |";
    private static final int LONGEST_LINE = 300;
    private static final String WRITE =
            "mvn -B verify -Plong; mvn -B test -pl integration-tests -am -Dtest=FaultsPageTest"
                    + " -Dfaults.write=true -Dsurefire.failIfNoSpecifiedTests=false";
    private static final String WRITE_ANNEX =
            WRITE.substring(WRITE.indexOf("; ") + 2).replace("=true", "=annex");
    /** Rows that are promised. Row 30 is not promised yet. */
    private static final List<Integer> PROMISED = Stream.of(IntStream.rangeClosed(1, 29), IntStream.rangeClosed(31, 54))
            .flatMap(IntStream::boxed)
            .toList();

    private static final List<DrillFault> DRILLED =
            Stream.of(DrillFault.values()).filter(DrillFault::isMeasured).toList();

    private static final String DRILL = "mvn -B package -Pdrill -pl integration-tests -am"
            + " -Dtest='*DrillTest,LostRanksTest,PairFailureTest,KilledDeviceRankTest,NetworkFaultsTest'"
            + " -Dsurefire.failIfNoSpecifiedTests=false, then the above with -Dfaults.drill=target/drill-whole";

    private static final String CELL_OF_ROW_2 = "2,kill -9; survivors stay,tcp,idle,64,4,";
    private static final String NOT_MEASURED =
            "- Rows 1, 2, 21: the limit of 100 ms is not measured for ranks that have a core each.";

    /** Read once: all sources of all tests are searched for it. */
    private static FaultTests tests;

    private static FaultsAnnex annex;

    @BeforeAll
    static void readAndWriteIfAsked() throws IOException {
        tests = FaultTests.of(CHECKOUT);
        annex = new FaultsAnnex(tests, FOLDER);
        String write = System.getProperty("faults.write", "");
        if (write.equals("true")) {
            takeResults();
        }
        if (write.equals("true") || write.equals("annex")) {
            annex.write(PROMISED);
        }
    }

    @Test
    void theAnnexIsWhatTheCommandWrites() throws IOException {
        assertEquals(
                annex.text(PROMISED),
                Files.readString(annex.file()),
                "docs/faults/annex.md is out of date; to write it: " + WRITE_ANNEX);
    }

    @Test
    void tableRowsAreShort() throws IOException {
        List<String> wrong = Stream.concat(lines().stream(), Files.readAllLines(annex.file()).stream())
                .filter(line -> line.startsWith("| ") && line.length() > LONGEST_LINE)
                .toList();

        assertEquals(List.of(), wrong, "lines of tables with more than " + LONGEST_LINE + " characters");
    }

    @Test
    void everyPromisedRowHasATestOrAnExplanation() throws IOException {
        List<String> page = lines();

        assertEquals(PROMISED, rows(page));
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
                        .flatMap(test -> tests.running(test).stream())
                        .toList()))
                .toList();

        assertEquals(
                List.of(),
                open,
                "rows of which no test has passed, or one has failed or was not run, by results.csv; to make it anew: "
                        + WRITE);
    }

    @Test
    void theDrillHasMeasuredEveryFaultOverEveryMedium() throws IOException {
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
    void measuredTimesKeepThePromises() throws IOException {
        assertEquals(
                List.of(),
                DrillFigures.kept(FOLDER.resolve("drill.csv")).broken(),
                "lines of docs/faults/drill.csv without a time, late, or with wrong or different blame; to measure: "
                        + DRILL);
    }

    @Test
    void everyLineOfTheDrillHasThePromiseAndEnoughRuns() throws IOException {
        assertEquals(
                List.of(),
                DrillFigures.kept(FOLDER.resolve("drill.csv")).unlikeTheirFault(),
                "lines of docs/faults/drill.csv that are not what their fault promises; to measure: " + DRILL);
    }

    @Test
    void theLimitForAKillIs100MillisWithACorePerRankElse250(@TempDir Path folder) throws IOException {
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
    void thePageSaysIfTheLimitWithACorePerRankWasNotMeasured() throws IOException {
        DrillFigures drill = DrillFigures.kept(FOLDER.resolve("drill.csv"));

        boolean says = lines().stream().anyMatch(line -> line.startsWith(NOT_MEASURED));

        assertEquals(!drill.hasMeasuredKills(true), says, "docs/faults.md has a line \"" + NOT_MEASURED + "\"");
    }

    /** Returns the numbers of all rows, sorted. A row has several lines if circumstances change what is promised. */
    private static List<Integer> rows(List<String> page) {
        Set<Integer> rows = new TreeSet<>();
        boolean isTable = false;
        for (String line : page) {
            isTable = line.equals(HEAD_OF_ROWS) || isTable && line.startsWith("|");
            if (isTable && line.matches("\\| \\d+ \\|.*")) {
                rows.add(Integer.parseInt(line.split("\\|")[1].strip()));
            }
        }
        return List.copyOf(rows);
    }

    private static List<String> lines() throws IOException {
        return Files.readAllLines(PAGE);
    }

    /** Takes the reports of a build into results.csv, or the figures of a drill into drill.csv. */
    private static void takeResults() throws IOException {
        String drilled = System.getProperty("faults.drill");
        if (drilled == null) {
            List<String> runners = tests.all().stream()
                    .flatMap(test -> tests.running(test).stream())
                    .sorted()
                    .toList();
            TestResults.kept(FOLDER.resolve("results.csv")).with(CHECKOUT).keep(FOLDER.resolve("results.csv"), runners);
        } else {
            // the reports next to it are those of the drill, whose cases are no build's
            DrillFigures.sumUp(Path.of(drilled), FOLDER.resolve("drill.csv"));
        }
    }
}

package ferro.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Two tables of the page are what the commands above them make of the files beside the page. */
class TargetsPageTest {
    private static final Path FOLDER = Path.of("../docs/performance");

    @Test
    void theTableOnThePageIsThatOfTheCommittedMeasurements() throws IOException {
        thePageHas(new Targets(measured("targets.csv")).markdown(), "targets.csv");
    }

    @Test
    void theTableOfManyRanksIsThatOfTheCommittedMeasurements() throws IOException {
        thePageHas(new RatioTable(measured("ranks.csv")).markdown(), "ranks.csv");
    }

    private static Ratios measured(String file) throws IOException {
        return new Ratios(new ResultsFile(FOLDER.resolve(file)).read());
    }

    private static void thePageHas(String table, String file) throws IOException {
        String page = Files.readString(FOLDER.resolve("README.md"));

        assertTrue(table.lines().count() > 10, table);
        assertTrue(
                page.contains(table), () -> "docs/performance/README.md has not this table of " + file + ":\n" + table);
    }
}

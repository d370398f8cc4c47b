package ferro.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The table of targets on the page is what {@code benchmarks/targets.sh table} makes of the file beside the page. */
class TargetsPageTest {
    private static final Path FOLDER = Path.of("../docs/performance");

    @Test
    void thePageHasTheTableThatTheCommandMakesOfItsMeasurements() throws IOException {
        RawFile measured = new RawFile(FOLDER.resolve("targets.csv"));
        String table = new Targets(new Ratios(measured.read())).markdown();

        String page = Files.readString(FOLDER.resolve("README.md"));

        assertTrue(table.lines().count() > 10, table);
        assertTrue(
                page.contains(table), () -> "docs/performance/README.md has not this table of targets.csv:\n" + table);
    }
}

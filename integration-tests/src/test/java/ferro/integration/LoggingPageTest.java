package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each configuration of docs/guide/logging.md, run with the real libraries, and its table of loggers. */
@Timeout(90)
class LoggingPageTest {
    private static final Path PAGE = Path.of("../docs/guide/logging.md");
    private static final String PROGRAM = "ferro.examples.guide.LogSteps";
    private static final Pattern LOGGER =
            Pattern.compile("(?:getLogger|PlainLoggers\\.logger)\\(\"(ferro\\.[^\"]+)\"\\)");
    private static final Pattern LEVEL = Pattern.compile("Level\\.(INFO|WARNING|DEBUG)\\b");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(ferro\\.[a-z.]+)` \\|(.*)\\|(.*)\\|(.*)\\|$");

    @TempDir
    private Path folder;

    /** Under mpirun with nothing set, Logback finds the rank in the variables of the launcher. */
    @ParameterizedTest
    @CsvSource({
        "mpirun.openmpi, --allow-run-as-root --oversubscribe --tag-output, '[1,{0}]<stdout>:'",
        "mpirun.mpich, -l, '[{0}] '"
    })
    @Tag("long")
    void mpirunAndLogbackPrintTheRank(String mpirun, String options, String prefix) throws Exception {
        assumeTrue(Child.installed(mpirun).isPresent(), mpirun);
        for (String library : List.of("logback.xml", "log4j2.xml")) {
            String line = mpirun + " " + options + " -n 2 " + Jvm.java() + " -XX:TieredStopAtLevel=1 -cp '"
                    + PageFiles.classPath(library, folder) + "' " + PROGRAM;
            String said = PageFiles.output(List.of(PageFiles.shell(line)));
            for (int rank = 0; rank < 2; rank++) {
                String start = prefix.replace("{0}", "" + rank);
                String end = " [rank " + rank + "] INFO  LogSteps: sum 3";
                assertTrue(said.lines().anyMatch(one -> one.startsWith(start) && one.endsWith(end)), said);
            }
        }
    }

    @Test
    @Tag("long")
    void withoutAProviderOfSlf4jNothingIsLogged() throws Exception {
        String path = PageFiles.jars("logback", "slf4j-") + File.pathSeparator + LauncherRun.classPath();
        String line = "RANK=0 WORLD_SIZE=1 " + Jvm.java() + " -cp '" + path + "' " + PROGRAM;
        String said = PageFiles.output(List.of(PageFiles.shell(line)));
        assertTrue(said.contains("No SLF4J providers were found"), said);
        assertFalse(said.contains("sum"), said);
    }

    @Test
    @Tag("text")
    void theTableHasEachLoggerWithItsLevels() throws IOException {
        Map<String, TreeSet<String>> shown = new TreeMap<>();
        Matcher rows = ROW.matcher(Files.readString(PAGE));
        while (rows.find()) {
            TreeSet<String> levels = new TreeSet<>();
            List<String> names = List.of("INFO", "WARNING", "DEBUG");
            for (int i = 0; i < names.size(); i++) {
                if (!rows.group(2 + i).isBlank()) {
                    levels.add(names.get(i));
                }
            }
            shown.put(rows.group(1), levels);
        }
        Map<String, TreeSet<String>> used = new TreeMap<>();
        for (Path source : MainSources.of(module -> true)) {
            String text = Files.readString(source);
            List<String> names =
                    LOGGER.matcher(text).results().map(found -> found.group(1)).toList();
            for (String name : names) {
                TreeSet<String> levels = used.computeIfAbsent(name, first -> new TreeSet<>());
                LEVEL.matcher(text).results().forEach(found -> levels.add(found.group(1)));
            }
        }
        // this logger is passed to the class that logs
        used.get("ferro.gpu.fallback").add("WARNING");
        assertEquals(used, shown);
    }
}

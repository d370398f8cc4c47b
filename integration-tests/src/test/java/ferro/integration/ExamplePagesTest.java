package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Examples with a page in docs/guide: four processes over TCP print what the page shows. */
@Tag("long")
class ExamplePagesTest {
    private static final Pattern COMMAND =
            Pattern.compile("(?s)```\\R\\./ferro run (-n 4 ferro\\.examples\\.[\\w.]+)\\R```\\R\\R```text\\R(.*?)```");

    /** Figures that differ between runs: speeds, and which rank has computed how many tasks. */
    private static final Pattern VARYING = Pattern.compile("[\\d.]+(?= s,)|\\d+(?= tasks per)|(?<=by rank ).*");

    @ParameterizedTest
    @ValueSource(strings = {"work-queue", "halo-exchange", "sample-sort"})
    void fourProcessesOverTcpPrintWhatThePageShows(String page) throws Exception {
        Matcher command = COMMAND.matcher(Files.readString(Path.of("../docs/guide", page + ".md")));
        assertTrue(command.find(), "the page shows no command with its output");

        LauncherRun run = LauncherRun.start(("run --links tcp " + command.group(1)).split(" "))
                .ends(0);
        assertEquals(comparable(command.group(2).lines()), comparable(run.outLines().stream()), run::toString);
        assertFalse(run.errText().contains("share memory"), run::toString);
    }

    private static List<String> comparable(Stream<String> lines) {
        return lines.map(line -> VARYING.matcher(line).replaceAll("N")).sorted().toList();
    }
}

package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Jvm;
import ferro.harness.Ports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks that pages of docs/guide start by hand, a line of the shell for each, and what the pages say that they print. */
@Timeout(90)
@Tag("long")
class RanksByHandPageTest {
    private static final Pattern BY_HAND =
            Pattern.compile("(?s)<!-- by hand ?(\\S*) -->\\R```\\R(.*?)```\\R+```text\\R(.*?)```");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"logging.md, 3", "debug.md, 2"})
    void ranksPrintWhatThePageShows(String page, int blocks) throws Exception {
        List<MatchResult> commands = BY_HAND.matcher(Files.readString(Path.of("../docs/guide", page)))
                .results()
                .toList();
        assertEquals(blocks, commands.size());
        for (MatchResult one : commands) {
            String port = "" + Ports.free();
            String path = PageFiles.classPath(one.group(1), folder);
            List<Process> ranks = new ArrayList<>();
            for (String line : one.group(2).lines().toList()) {
                assertTrue(line.matches("(export )?RANK=\\d .* \\w+"), line);
                ranks.add(PageFiles.shell(line.replace("29500", port)
                        .replaceFirst("-cp \"[^\"]+\"", "-cp '" + path + "'")
                        .replace(" java ", " " + Jvm.java() + " -XX:TieredStopAtLevel=1 ")
                        .replaceFirst(" (\\w+)$", " ferro.examples.guide.$1")));
            }
            assertEquals(replaced(one.group(3)), replaced(PageFiles.output(ranks)), one.group(2));
        }
    }

    /** Removes times, records of the JDK's two lines, and what is not said on a fast machine or differs between JDKs. */
    private static String replaced(String text) {
        return text.replaceAll("(?m)^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}", "TIME")
                .replaceAll("(?m)^[A-Z][a-z]{2} \\d+, \\d{4} .*\\R.*\\R", "")
                .replaceAll("(?m)^.*(waiting for ranks?|is still starting:) .*\\R", "")
                .replaceAll("(?m)^WARNING: .*\\R", "");
    }
}

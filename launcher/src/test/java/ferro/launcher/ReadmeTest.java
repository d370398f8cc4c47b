package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.launcher.output.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** README.md against the command that it describes. */
class ReadmeTest {
    private final String readme = Files.readString(Path.of("../README.md"));

    ReadmeTest() throws IOException {}

    @Test
    void everyCommandHasARowAndEveryRowACommand() {
        Set<String> rows = new TreeSet<>();
        Matcher row = Pattern.compile("(?m)^\\| `\\./ferro (\\w+)").matcher(readme);
        while (row.find()) {
            rows.add(row.group(1));
        }

        World world = new World(Map.of(), new Screen(null, null), System.out, Optional.empty());
        assertEquals(
                new TreeSet<>(FerroCommand.commandLine(world).getSubcommands().keySet()), rows);
    }
}

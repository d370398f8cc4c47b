package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.collectives.CollectiveEngine;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("text")
class ErrorsPageTest {
    private static final int TOKEN_PAGE = 4096;
    private static final Pattern BLOCK = Pattern.compile("```\n(.*?)```", Pattern.DOTALL);
    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
    /** The code in front of a message of the examples, and the dots that stand for the line above. */
    private static final Pattern CODE = Pattern.compile("^([A-Z_]+) +(?:\\.\\.\\.: )?(?=[a-z])");
    /** What hosts, the JDK and programs of the examples are called and say. */
    private static final List<String> OF_THE_EXAMPLES = List.of(
            "b, 10.99.0.2",
            "tcp",
            "java.lang.IllegalStateException: batch 17 has no labels",
            "demo.Loader.next(Loader.java:41)",
            "Train.load at Train.java:88",
            "Train.step at Train.java:90",
            "Train.step at Train.java:91",
            "Java heap space");

    private final String page = Files.readString(Path.of("../docs/errors.md"));
    private final MessageTexts texts = MessageTexts.ofTheProduct();

    ErrorsPageTest() throws IOException {}

    @Test
    void everyMessageIsMadeOfTextsOfTheProduct() {
        List<String> messages = messages();
        assertTrue(messages.size() > 20, messages::toString);

        List<String> strange = messages.stream()
                .map(line -> CODE.matcher(line).replaceFirst(""))
                .map(this::strange)
                .filter(text -> !text.isEmpty())
                .toList();

        assertEquals(List.of(), strange, "what docs/errors.md quotes and no text of the product says");
    }

    @Test
    void aMessageThatTheProductNeverPrintsIsFound() {
        assertEquals("", strange("barrier on group \"world\" rank 0 seq 1: rank 0 was interrupted in barrier seq 1"));
        assertEquals("was disturbed in barrier seq 1", strange("rank 0 was disturbed in barrier seq 1"));
        assertEquals("30 s", strange("nothing heard from rank 2 for 30 s"));
        assertEquals("", strange("nothing heard from rank 2 for 30.0 s"));
    }

    // @start region="page"
    @Test
    void everyTextOfDeviceFailuresOnThePageIsInTheProduct() {
        Set<String> codes = Stream.of(Code.values()).map(Code::name).collect(Collectors.toSet());
        List<String> missing = rows("## Device tensors").stream()
                .flatMap(cells -> quoted(cells.get(1)).stream())
                .filter(words -> !codes.contains(words) && !isSetting(words) && !texts.has(words))
                .toList();

        assertEquals(List.of(), missing, "texts of the second column that no text of the product has");
    }
    // @end

    @Test
    void everyCodeHasARow() {
        List<String> rows = rows("# Errors").stream()
                .flatMap(cells -> quoted(cells.get(0)).stream())
                .filter(word -> word.matches("[A-Z_]+"))
                .toList();

        assertEquals(
                Stream.of(Code.values()).map(Code::name).sorted().toList(),
                rows.stream().sorted().toList());
        List<String> shown = messages().stream()
                .flatMap(line -> CODE.matcher(line).results().map(found -> found.group(1)))
                .filter(word -> !rows.contains(word))
                .toList();
        assertEquals(List.of(), shown, "codes of examples");
    }

    @Test
    void theSharedMemoryOnThePageIsThatOfTwoRanks() {
        long bytes = CollectiveEngine.sharedMemoryOf(2).orElseThrow().bytes() + TOKEN_PAGE;

        assertTrue(page.contains(": need " + bytes + " bytes in /dev/shm, where there are "), "need " + bytes);
    }

    private String strange(String message) {
        return texts.strange(message, OF_THE_EXAMPLES);
    }

    private List<String> messages() {
        return BLOCK.matcher(page)
                .results()
                .flatMap(block -> block.group(1).lines())
                .filter(line -> !line.isBlank())
                .toList();
    }

    private static boolean isSetting(String words) {
        return words.endsWith("=") && Settings.all().stream().anyMatch(setting -> words.equals(setting.name() + "="));
    }

    private List<List<String>> rows(String heading) {
        return PageFiles.rows(page, heading).stream()
                .filter(line -> line.startsWith("| `"))
                .map(line -> List.of(line.substring(1).split("\\|")))
                .toList();
    }

    private static List<String> quoted(String cell) {
        return QUOTED.matcher(cell).results().map(found -> found.group(1)).toList();
    }
}

package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tests that SECURITY.md names are there, by their sources. */
@Tag("text")
class SecurityTestsTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Pattern NAMED = Pattern.compile("`(\\w+Test)(?:#(\\w+))?`");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| S(\\d+) \\|");

    private final String page = Files.readString(CHECKOUT.resolve("SECURITY.md"));

    SecurityTestsTest() throws IOException {}

    @Test
    void everyTestOnThePageExists() throws IOException {
        Map<String, String> sources = sources();
        List<String> missing = new ArrayList<>();
        int named = 0;
        for (Matcher each = NAMED.matcher(page); each.find(); named++) {
            String source = sources.getOrDefault(each.group(1), "");
            String method = each.group(2) == null ? "class " + each.group(1) : "void " + each.group(2) + "(";
            if (!source.contains(method)) {
                missing.add(each.group());
            }
        }

        assertEquals(List.of(), missing);
        assertTrue(named > 40, named + " tests are named");
    }

    @Test
    void eachOfTheFourteenPromisesHasItsRow() {
        List<String> rows =
                ROW.matcher(page).results().map(found -> found.group(1)).toList();

        assertEquals(List.of("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"), rows);
    }

    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        for (Path file : Checkout.endingWith("Test.java")) {
            sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
        }
        return sources;
    }
}

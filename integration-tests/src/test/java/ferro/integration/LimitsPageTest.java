package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The numbers and versions of docs/guide/limits.md against constants, settings and poms. */
@Tag("text")
class LimitsPageTest {
    private static final Pattern CONSTANT = Pattern.compile("`([A-Z]\\w+)\\.([A-Z_]+)`");
    private static final Pattern SETTING = Pattern.compile("`(ferro\\.[a-z.]+)`");
    private static final Pattern PRODUCT = Pattern.compile("(\\d+)L?(?: (<<|\\*) (\\d+)L?)?");
    private static final Pattern VERSION = Pattern.compile("\\d+(\\.\\d+)*");

    private final String page = Files.readString(Path.of("../docs/guide/limits.md"));

    LimitsPageTest() throws IOException {}

    @Test
    void numbersAreThoseOfConstantsAndSettings() throws IOException {
        List<String> wrong = new ArrayList<>();
        int compared = 0;
        for (List<String> cells : rows("## Numbers")) {
            Matcher constant = CONSTANT.matcher(cells.get(2));
            Matcher setting = SETTING.matcher(cells.get(2));
            String found = cells.get(2);
            if (constant.matches()) {
                found = "" + constant(constant.group(1), constant.group(2));
            } else if (setting.matches()) {
                found = fallback(setting.group(1));
            }
            compared += found.equals(cells.get(2)) ? 0 : 1;
            if (!found.equals(cells.get(2)) && bytes(found) != bytes(cells.get(1))) {
                wrong.add(cells.get(0) + ": " + cells.get(1) + ", but " + cells.get(2) + " is " + found);
            }
        }

        assertEquals(List.of(), wrong);
        assertTrue(compared > 12, "compared only " + compared);
    }

    @Test
    void versionsAreThoseOfThePoms() throws IOException {
        int compared = 0;
        for (List<String> cells : rows("## Versions")) {
            String file = Files.readString(Path.of("..").resolve(cells.get(2)));
            Matcher version = VERSION.matcher(cells.get(1));
            boolean isPom = cells.get(2).endsWith("pom.xml");
            assertTrue(version.find(), cells::toString);
            do {
                String number = version.group();
                String stands = isPom ? ">" + number : "jdk" + number;
                assertTrue(file.contains(stands), () -> cells + ": no " + stands);
                compared++;
            } while (version.find());
        }

        assertTrue(compared >= 12, "compared only " + compared);
    }

    @Test
    void aNumberThatIsWrongIsFound() throws IOException {
        assertEquals(64 << 10, constant("PeerLane", "EAGER_BYTES"));
        assertEquals(64 << 10, bytes("64 KiB"));
        assertEquals(bytes("120s"), bytes("120 s"));
        assertEquals(bytes(fallback("ferro.shm.bytes")), bytes("512 MiB"));
    }

    /** Returns the constant of a type, as its source computes it. */
    private static long constant(String type, String name) throws IOException {
        Path source = Checkout.endingWith("/" + type + ".java").get(0);
        Matcher value = Pattern.compile("\\b" + name + " = " + PRODUCT + ";").matcher(Files.readString(source));
        assertTrue(value.find(), source + " has no " + name);
        long first = Long.parseLong(value.group(1));
        if (value.group(2) == null) {
            return first;
        }
        long second = Long.parseLong(value.group(3));
        return value.group(2).equals("<<") ? first << second : first * second;
    }

    private static String fallback(String setting) {
        return Settings.all().stream()
                .filter(one -> one.name().equals(setting))
                .findFirst()
                .flatMap(one -> one.fallback())
                .orElse("no default");
    }

    /** Returns the number of a text with its unit counted in; seconds, characters and calls count one. */
    private static long bytes(String text) {
        MatchResult number = Pattern.compile("(\\d+) ?(\\w*)")
                .matcher(text)
                .results()
                .findFirst()
                .orElseThrow();
        int shift = switch (number.group(2)) {
            case "KiB" -> 10;
            case "MiB" -> 20;
            default -> 0;
        };
        return Long.parseLong(number.group(1)) << shift;
    }

    /** Returns the cells of the rows below a heading, without the head of the table. */
    private List<List<String>> rows(String heading) {
        String from = page.substring(page.indexOf(heading + "\n"));
        int next = from.indexOf("\n## ", 1);
        List<List<String>> rows = new ArrayList<>();
        for (String line : from.substring(0, next).lines().toList()) {
            if (line.startsWith("| ") && !line.endsWith(" source |") && !line.endsWith("stands |")) {
                rows.add(List.of(line.substring(2, line.length() - 2).split(" \\| ")));
            }
        }
        return rows;
    }
}

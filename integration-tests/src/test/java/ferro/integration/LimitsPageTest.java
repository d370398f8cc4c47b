package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
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
    void numbersOnThePageAreThoseOfConstantsAndSettings() throws IOException {
        assertEquals(List.of(), wrongNumbers(page));
    }

    @Test
    void versionsOnThePageAreThoseOfThePoms() throws IOException {
        assertEquals(List.of(), wrongVersions(page));
    }

    @Test
    void aWrongNumberIsFound() throws IOException {
        for (String[] change : List.of(
                new String[] {"| 64 KiB | `PeerMessageChannel", "| 65 KiB | `PeerMessageChannel"},
                new String[] {"| 2147483645 | HotSpot", "| 2147483648 | Java"},
                new String[] {"| 512 MiB | `ferro.shm.bytes`", "| 512 KiB | `ferro.shm.bytes`"},
                new String[] {"`ferro.join.timeout` |", "`ferro.join.time` |"},
                new String[] {"| 30 s | `ferro.heartbeat.limit`", "| 30 s | a setting"})) {
            assertEquals(1, wrongNumbers(changed(change)).size(), change[1]);
        }
    }

    @Test
    void aWrongVersionIsFound() throws IOException {
        for (String[] change : List.of(
                new String[] {"| 17 and 25 |", "| 17 and 26 |"},
                new String[] {"| 17 | pom.xml", "| 16 | pom.xml"},
                new String[] {"| 4.2.18 |", "| 4.2.1 |"},
                new String[] {"| 3.5.9 |", "| 3.5 |"},
                new String[] {"| DJL | 0.35.1 |", "| DJL | any |"})) {
            assertEquals(1, wrongVersions(changed(change)).size(), change[1]);
        }
    }

    private String changed(String[] change) {
        assertTrue(page.contains(change[0]), change[0]);
        return page.replace(change[0], change[1]);
    }

    /** Returns the rows whose number is not that of the last column, or whose last column has no number. */
    private static List<String> wrongNumbers(String page) throws IOException {
        List<String> wrong = new ArrayList<>();
        for (List<String> cells : rows(page, "## Numbers")) {
            Matcher constant = CONSTANT.matcher(cells.get(2));
            Matcher setting = SETTING.matcher(cells.get(2));
            String found = cells.get(2).equals("HotSpot") ? "" + (Integer.MAX_VALUE - 2) : "nothing that is known";
            if (constant.matches()) {
                found = "" + constant(constant.group(1), constant.group(2));
            } else if (setting.matches()) {
                found = fallback(setting.group(1));
            }
            if (!bytes(found).equals(bytes(cells.get(1)))) {
                wrong.add(cells.get(0) + ": " + cells.get(1) + ", but " + cells.get(2) + " is " + found);
            }
        }
        return wrong;
    }

    /** Returns the rows with a version that is not in their file, or without a version. */
    private static List<String> wrongVersions(String page) throws IOException {
        List<String> wrong = new ArrayList<>();
        for (List<String> cells : rows(page, "## Versions")) {
            String file = Files.readString(Path.of("..").resolve(cells.get(2)));
            boolean isPom = cells.get(2).endsWith("pom.xml");
            List<String> versions = VERSION.matcher(cells.get(1))
                    .results()
                    .map(MatchResult::group)
                    .toList();
            Predicate<String> stands = version -> Pattern.compile(
                            isPom
                                    ? ">" + Pattern.quote(version) + "(\\.Final)?<"
                                    : "\\bjdk" + Pattern.quote(version) + "\\b")
                    .matcher(file)
                    .find();
            if (versions.isEmpty() || !versions.stream().allMatch(stands)) {
                wrong.add(cells + ": not in " + cells.get(2));
            }
        }
        return wrong;
    }

    private static long constant(String type, String name) throws IOException {
        Path source = MainSources.of(module -> true).stream()
                .filter(file -> file.endsWith(type + ".java"))
                .findFirst()
                .orElseThrow();
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

    /** Returns the number of a text with its unit counted in, if there is one; seconds, characters and calls count one. */
    private static Optional<Long> bytes(String text) {
        return Pattern.compile("(\\d+) ?(\\w*)")
                .matcher(text)
                .results()
                .findFirst()
                .map(number -> {
                    int shift = switch (number.group(2)) {
                        case "KiB" -> 10;
                        case "MiB" -> 20;
                        default -> 0;
                    };
                    return Long.parseLong(number.group(1)) << shift;
                });
    }

    private static List<List<String>> rows(String page, String heading) {
        List<List<String>> rows = new ArrayList<>();
        for (String line : PageFiles.rows(page, heading)) {
            if (line.startsWith("| ") && !line.endsWith(" source |") && !line.endsWith("stands |")) {
                rows.add(List.of(line.substring(2, line.length() - 2).split(" \\| ")));
            }
        }
        assertTrue(rows.size() > 10, rows::toString);
        return rows;
    }
}

package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.launcher.output.Screen;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** README.md against what it describes: the command, its files, the settings. */
class ReadmeTest {
    private static final Path CHECKOUT = Path.of("..");

    private final String readme = Files.readString(CHECKOUT.resolve("README.md"));

    ReadmeTest() throws IOException {}

    @Test
    void everyCommandHasARowAndEveryRowACommand() {
        Set<String> rows =
                new TreeSet<>(found("(?m)^\\| `\\./ferro (\\w+)", readme).toList());

        World world = new World(Map.of(), new Screen(null, null), System.out, Optional.empty());
        assertEquals(
                new TreeSet<>(FerroCommand.commandLine(world).getSubcommands().keySet()), rows);
    }

    @Test
    void everyKindOfCollectiveStandsInTheFirstParagraph() {
        String first = readme.split("\n\n")[1].toLowerCase(Locale.ROOT);
        List<String> words = List.of(first.split("[^a-z-]+"));
        List<String> missing = Stream.of(CollectiveKind.values())
                .map(kind -> kind.label().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .filter(name -> !words.contains(name))
                .toList();

        assertEquals(List.of(), missing, () -> "collectives that are not in: " + first);
    }

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "SECURITY.md"})
    void everyLinkLeadsToAFileAndAHeadingThatAreThere(String page) throws IOException {
        List<String> links = found("\\]\\(([^)]+)\\)", Files.readString(CHECKOUT.resolve(page)))
                .filter(link -> !link.startsWith("https:"))
                .toList();
        List<String> dead = new ArrayList<>();
        for (String link : links) {
            String[] parts = link.split("#", 2);
            Path file = CHECKOUT.resolve(parts[0].isEmpty() ? page : parts[0]);
            if (!Files.exists(file) || parts.length == 2 && !headings(file).contains(parts[1])) {
                dead.add(link);
            }
        }

        assertEquals(List.of(), dead);
        assertTrue(links.size() > 1, links::toString);
    }

    @Test
    void everyPageIsLinked() throws IOException {
        Set<String> pages = new TreeSet<>();
        for (String folder : List.of("", "docs", "gpu")) {
            try (Stream<Path> files = Files.list(CHECKOUT.resolve(folder))) {
                files.map(file -> CHECKOUT.relativize(file).toString())
                        .filter(name -> name.endsWith(".md") && !name.equals("README.md"))
                        .forEach(pages::add);
            }
        }
        assertTrue(pages.contains("SECURITY.md") && pages.contains("docs/errors.md"), pages::toString);

        pages.removeIf(page -> readme.contains("](" + page));
        assertEquals(Set.of(), pages);
    }

    @Test
    void figuresAreTheDefaultsOfTheSettings() {
        assertEquals("120s", Settings.TIMEOUT.fallback().orElseThrow());
        says("the timeout of the call (120 s by default, here 5 s)");
        assertEquals("2048", Settings.RECORDER_ENTRIES.fallback().orElseThrow());
        says("Every rank keeps its last 2,048 calls");
    }

    @Test
    void theDependencyIsTheModuleBundleOfTheVersionThatIsInstalled() throws IOException {
        String parent = Files.readString(CHECKOUT.resolve("pom.xml"));
        String released = parent.substring(parent.indexOf("<id>release</id>"));
        String version =
                found("<revision>([^<]+)</revision>", released).findFirst().orElseThrow();
        String bundle = Files.readString(CHECKOUT.resolve("bundle/pom.xml"));

        says("mvn -B install -Prelease");
        assertEquals(
                List.of(version), found("<version>([^<]+)</version>", readme).toList());
        assertEquals(
                List.of("ferro"),
                found("<artifactId>([^<]+)</artifactId>", readme).toList());
        assertTrue(bundle.contains("</parent>\n    <artifactId>ferro</artifactId>"), bundle);
    }

    @Test
    void theProgramCompilesWithoutAWarning(@TempDir Path folder) throws IOException {
        String program = found("(?s)```java\n(.*?)```", readme).findFirst().orElseThrow();
        Path source = Files.writeString(folder.resolve("Main.java"), program);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

        assertEquals(0, compiler.run(null, null, null, "-Xlint:all,-path", "-Werror", "-cp", path, "" + source));
    }

    private void says(String sentence) {
        assertTrue(readme.replaceAll("\\s+", " ").contains(sentence), () -> "README.md does not say: " + sentence);
    }

    /** Returns what links to the headings of a page are called. */
    private static Set<String> headings(Path page) throws IOException {
        String text = Files.readString(page).replaceAll("(?ms)^```.*?^```", "");
        return found("(?m)^#+ (.*)$", text)
                .map(heading -> heading.toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w -]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    /** Returns what the group of a pattern matches. */
    private static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map((MatchResult match) -> match.group(1));
    }
}

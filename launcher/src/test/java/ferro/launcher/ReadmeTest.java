package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
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

/** README.md and the page of the commands against what they describe: the command, the pages, the settings. */
class ReadmeTest {
    private static final Path CHECKOUT = Path.of("..");

    private final String readme = Files.readString(CHECKOUT.resolve("README.md"));

    ReadmeTest() throws IOException {}

    @Test
    void everyCommandHasARowAndEveryRowACommand() throws IOException {
        String page = Files.readString(CHECKOUT.resolve("docs/guide/commands.md"));
        Set<String> rows =
                new TreeSet<>(found("(?m)^\\| `\\./ferro (\\w+)", page).toList());

        assertEquals(FerroCommand.commandLine().getSubcommands().keySet(), rows);
    }

    @Test
    void everyKindOfCollectiveStandsInTheListOfCalls() {
        String calls = found("(?m)^(The calls are .*)$", readme)
                .findFirst()
                .orElseThrow()
                .toLowerCase(Locale.ROOT);
        List<String> words = List.of(calls.split("[^a-z-]+"));
        List<String> missing = Stream.of(CollectiveKind.values())
                .map(kind -> kind.label().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .filter(name -> !words.contains(name))
                .toList();

        assertEquals(List.of(), missing, () -> "collectives that are not in: " + calls);
    }

    @Test
    void theReadmeHasAtMost900Words() {
        long words = readme.strip().split("\\s+").length;
        assertTrue(words <= 900, () -> "README.md has " + words + " words");
    }

    @Test
    void everyPageIsLinkedFromTheMap() throws IOException {
        Path map = CHECKOUT.resolve("docs/README.md");
        Set<Path> linked = found("\\]\\(([^)#]+\\.md)", Files.readString(map))
                .map(link -> map.resolveSibling(link).normalize())
                .collect(Collectors.toSet());
        Set<Path> pages = new TreeSet<>();
        for (String folder : List.of("", "docs", "docs/guide", "gpu")) {
            try (Stream<Path> files = Files.list(CHECKOUT.resolve(folder))) {
                files.map(Path::normalize)
                        .filter(file -> file.toString().endsWith(".md") && !file.endsWith("README.md"))
                        .forEach(pages::add);
            }
        }
        assertTrue(pages.contains(CHECKOUT.resolve("docs/guide/commands.md").normalize()), pages::toString);

        pages.removeAll(linked);
        assertEquals(Set.of(), pages);
    }

    @Test
    void figuresAreTheDefaultsOfTheSettings() {
        assertEquals("120s", Settings.TIMEOUT.fallback().orElseThrow());
        says("Every call ends at its timeout at the latest (120 s by default).");
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
        assertHas(bundle, "</parent>\n    <artifactId>ferro</artifactId>");
    }

    @Test
    void theReadmesDescribeTheLocalRepositoryAlike() throws IOException {
        String archive = Files.readString(CHECKOUT.resolve("distribution/src/main/text/README.md"));
        String page = Files.readString(CHECKOUT.resolve("docs/guide/project.md"));
        String how = "(?m)^(mvn -B install -Prelease .*)$|(?s)(<repositories>.*?</repositories>)|(`target/staging`)";
        List<String> ofPage = parts(how, page);

        assertEquals(3, ofPage.size(), () -> "docs/guide/project.md has " + ofPage);
        assertEquals(ofPage, parts(how, archive));
    }

    private static List<String> parts(String pattern, String text) {
        return LauncherPagesTest.found(pattern, text).distinct().sorted().toList();
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
        assertHas(readme.replaceAll("\\s+", " "), sentence);
    }

    private static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map((MatchResult match) -> match.group(1));
    }
}

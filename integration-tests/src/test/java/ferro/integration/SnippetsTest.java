package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Examples of Javadoc and of pages are regions of files that the build compiles and runs: of the modules examples,
 * examples/jlama and segments, of the adapters, and of tests. Javadoc of JDK 18 and newer compares the regions too.
 *
 * <p>The region {@code program} of a file of the guide is the file without its package and the Javadoc of its class.
 */
@Tag("text")
class SnippetsTest {
    private static final List<Path> ROOTS = List.of(
            Path.of("../examples/src/main/java"),
            Path.of("../examples/src/test/java"),
            Path.of("../examples/jlama/src/test/java"),
            Path.of("../segments/src/test/java"),
            Path.of("../adapters/lightgbm/src/test/java"),
            Path.of("../adapters/lightgbm-spark/src/test/java"),
            Path.of("../spi/src/test/java"),
            Path.of("../control/src/test/java"),
            Path.of("../backend-simulated/src/test/java"),
            Path.of("../tck/src/test/java"),
            Path.of("src/test/java"));
    private static final Pattern SNIPPET =
            Pattern.compile("\\{@snippet file=\"([^\"]+)\" region=\"(\\w+)\" :\\R +\\*\\R");
    /** In front of each line of a comment. */
    private static final Pattern LEADER = Pattern.compile("(?m)^ *\\*");

    private static final Pattern PAGE_BLOCK =
            Pattern.compile("<!-- (ferro/\\S+\\.java \\w+) -->\\R```java\\R(?s:(.*?))```");

    /** Files of which a page shows all but the package and the Javadoc of the class. */
    private static final Pattern PROGRAM = Pattern.compile(".*/ferro/examples/guide/[A-Z]\\w+\\.java");

    private static final Pattern NOT_SHOWN = Pattern.compile("(?ms)^package \\S+\\R\\R|^/\\*\\*.*?\\*/\\R");

    private static final Pattern REGION = Pattern.compile("(?ms)^ *// @start region=\"(\\w+)\"\\R(.*?)^ *// @end\\R");

    @Test
    void snippetsAreRegionsOfTestedExamples() throws IOException {
        Map<String, String> regions = regions();
        Map<String, String> shown = new TreeMap<>();
        for (Path source : MainSources.of(module -> true)) {
            for (Map.Entry<String, String> one :
                    snippets(Files.readString(source)).entrySet()) {
                assertEquals(regions.get(one.getKey()), one.getValue(), source + " shows another " + one.getKey());
                shown.put(one.getKey(), one.getValue());
            }
        }
        shown.putAll(shownInPages(regions));
        assertEquals(regions.keySet(), shown.keySet(), "regions that neither Javadoc nor a page shows");
    }

    /** Blocks of pages behind a comment that names file and region. */
    private static Map<String, String> shownInPages(Map<String, String> regions) throws IOException {
        List<Path> pages;
        try (Stream<Path> found = Files.list(Path.of("../docs"));
                Stream<Path> guide = Files.list(Path.of("../docs/guide"))) {
            Stream<Path> top = Stream.of(Path.of("../README.md"), Path.of("../CONTRIBUTING.md"));
            pages = Stream.concat(Stream.concat(found, guide), top)
                    .filter(page -> page.toString().endsWith(".md"))
                    .toList();
        }
        Map<String, String> shown = new TreeMap<>();
        for (Path page : pages) {
            Matcher block = PAGE_BLOCK.matcher(Files.readString(page));
            while (block.find()) {
                assertEquals(
                        regions.get(block.group(1)), plain(block.group(2)), page + " shows another " + block.group(1));
                shown.put(block.group(1), block.group(2));
            }
        }
        assertTrue(shown.size() > 3, shown::toString);
        return shown;
    }

    private static Map<String, String> regions() throws IOException {
        Map<String, String> regions = new TreeMap<>();
        for (Path root : ROOTS) {
            List<Path> files;
            try (Stream<Path> found = Files.walk(root)) {
                files = found.filter(file -> file.toString().endsWith(".java")).toList();
            }
            for (Path file : files) {
                String text = Files.readString(file);
                String name = root.relativize(file).toString().replace('\\', '/');
                if (PROGRAM.matcher(file.toString()).matches()) {
                    regions.put(name + " program", plain(NOT_SHOWN.matcher(text).replaceAll("")));
                }
                Matcher region = REGION.matcher(text);
                while (region.find()) {
                    String before = regions.put(name + " " + region.group(1), plain(region.group(2)));
                    assertNull(before, "two regions " + name + " " + region.group(1));
                }
            }
        }
        return regions;
    }

    private static Map<String, String> snippets(String source) {
        Map<String, String> snippets = new TreeMap<>();
        for (int at = source.indexOf("{@snippet"); at >= 0; at = source.indexOf("{@snippet", at + 1)) {
            Matcher snippet = SNIPPET.matcher(source).region(at, source.length());
            assertTrue(snippet.lookingAt(), "names no region: " + source.substring(at, source.indexOf('\n', at)));
            String body = source.substring(snippet.end(), end(source, at));
            snippets.put(
                    snippet.group(1) + " " + snippet.group(2),
                    plain(LEADER.matcher(body).replaceAll("")));
        }
        return snippets;
    }

    private static String plain(String text) {
        return text.stripTrailing().stripIndent();
    }

    private static int end(String source, int at) {
        int open = 0;
        int end = at;
        do {
            open += source.charAt(end) == '{' ? 1 : source.charAt(end) == '}' ? -1 : 0;
            end++;
        } while (open > 0);
        return end - 1;
    }
}

package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("text")
class LinksInDocsTest {
    private static final Pattern BLOCK = Pattern.compile("```.*?```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*)$");

    @Test
    void everyLinkLeadsToAnExistingFileAndHeading() throws IOException {
        Set<String> broken = new TreeSet<>();
        int seen = 0;
        for (Path page : Checkout.endingWith(".md")) {
            String text = BLOCK.matcher(Files.readString(page)).replaceAll("");
            for (MatchResult found : LINK.matcher(text).results().toList()) {
                String link = found.group(1);
                if (!link.contains("://") && !link.startsWith("mailto:")) {
                    seen++;
                    if (!exists(page, link)) {
                        broken.add(Checkout.ROOT.relativize(page) + ": " + link);
                    }
                }
            }
        }

        assertEquals(Set.of(), broken, "links that lead nowhere");
        assertTrue(seen > 100, "found only " + seen + " links");
    }

    @Test
    void aBrokenLinkIsFound() throws IOException {
        Path page = Checkout.ROOT.resolve("docs/errors.md");

        assertEquals(
                List.of(true, true, false, false),
                List.of(
                        exists(page, "objects.md"),
                        exists(page, "performance/README.md#encryption"),
                        exists(page, "nowhere.md"),
                        exists(page, "performance/README.md#no-such-heading")));
    }

    private static boolean exists(Path page, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
        if (!Files.exists(target)) {
            return false;
        }
        return parts.length == 1
                || !target.toString().endsWith(".md")
                || anchors(target).contains(parts[1]);
    }

    /** Returns what headings are called in links: small letters, digits and hyphens; blanks become hyphens. */
    private static Set<String> anchors(Path page) throws IOException {
        String text = BLOCK.matcher(Files.readString(page)).replaceAll("");
        return HEADING.matcher(text)
                .results()
                .map(found -> found.group(1).strip().toLowerCase(Locale.ROOT))
                .map(heading -> heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                .collect(Collectors.toSet());
    }
}

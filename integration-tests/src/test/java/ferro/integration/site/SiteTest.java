package ferro.integration.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.Checkout;
import ferro.integration.site.Tab.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The site as readers see it: narrow and wide, dark and light. The property {@code ferro.site} names the folder of the site. If the
 * property {@code ferro.site.pictures} names a folder, the folder gets a picture of each page on each screen.
 */
class SiteTest {
    private static final String PROPERTY = "ferro.site";
    private static final String PICTURES = "ferro.site.pictures";
    /** What does not fit depends on the width, and what is hard to read on the colors: two screens show both of each. */
    private static final List<Screen> SCREENS = List.of(new Screen(420, true), new Screen(1280, false));
    /** Pages of the Javadoc have one form, so that not all are opened: all summaries, and this number of the longest. */
    private static final int LONGEST_TYPES = 10;

    /** A file of the checkout that the site shows as it is, and its kind, of which the test opens the longest. */
    private static final Pattern FILE = Pattern.compile("(?!api/).*\\.(\\w+)\\.html");

    private static final Pattern ROW = Pattern.compile("(?m)^\\|.*");
    private static final Pattern LINK = Pattern.compile("\\[([^\\]]+)\\]\\(");

    @TempDir
    private static Path folder;

    private static Folder site;
    private static Chromium chromium;
    private static Tab tab;

    @BeforeAll
    static void opensBrowser() throws Exception {
        String named = System.getProperty(PROPERTY);
        assumeTrue(named != null, "-D" + PROPERTY + " names no folder that mvn -B compile -Psite has made");
        Path root = Path.of(named);
        assertTrue(Files.isRegularFile(root.resolve("index.html")), () -> root.toAbsolutePath() + " has no site");
        site = Folder.serve(root);
        chromium = Chromium.start(folder);
        tab = new Tab(chromium);
    }

    @AfterAll
    static void closesBrowser() throws InterruptedException {
        if (chromium != null) {
            chromium.close();
        }
        if (site != null) {
            site.close();
        }
    }

    @Test
    @Timeout(900)
    void everyPageFitsAllScreensInBothColourSchemes() throws Exception {
        List<String> pages = new ArrayList<>();
        Map<String, String> longest = new TreeMap<>();
        for (String page : site.endingWith(".html")) {
            Matcher file = FILE.matcher(page);
            if (file.matches()) {
                longest.merge(file.group(1), page, SiteTest::longer);
            } else if (!page.startsWith("api/")) {
                pages.add(page);
            }
        }
        assertTrue(pages.size() > 100, () -> "only " + pages.size() + " pages");
        assertTrue(longest.containsKey("java"), longest::toString);
        pages.addAll(longest.values());
        assertEquals("", String.join("\n", faults(pages)));
    }

    @Test
    @Timeout(900)
    void javadocFitsAllScreensInBothColourSchemes() throws Exception {
        List<String> all = site.endingWith(".html").stream()
                .filter(page -> page.startsWith("api/"))
                .toList();
        Stream<String> summaries =
                all.stream().filter(page -> page.matches("api/(index|.*/(module|package)-summary)\\.html"));
        Stream<String> longest = all.stream()
                .filter(page -> page.matches("api/.*/[A-Z]\\w+\\.html"))
                .sorted(Comparator.comparing(SiteTest::length).reversed())
                .limit(LONGEST_TYPES);

        assertEquals(
                "", String.join("\n", faults(Stream.concat(summaries, longest).toList())));
    }

    @Test
    void aPageThatDoesNotFitIsFound() throws Exception {
        Path page = Files.createDirectories(folder.resolve("bad")).resolve("index.html");
        Files.writeString(page, """
                <!DOCTYPE html><html><body style="background: #fff"><main>
                <p style="width: 900px; color: #ccc">wide and pale</p>
                <img src="nowhere.png" alt="nothing">
                <script>console.error("broken"); fetch("http://localhost:1/elsewhere").catch(() => null)</script>
                </main></body></html>
                """);
        try (Folder bad = Folder.serve(page.getParent())) {
            tab.screen(new Screen(420, true));
            tab.open(bad.address(""));
            String faults = String.join("\n", tab.faults(new Screen(420, true)));
            String complaints = String.join("\n", tab.complaints(bad.address("")));

            for (String fault : List.of("pixels wide", "beyond", "missing image", "luminance", "hard to read")) {
                assertTrue(faults.contains(fault), () -> "no " + fault + " in " + faults);
            }
            for (String complaint : List.of("console", "log", "another host: http://localhost:1/elsewhere")) {
                assertTrue(complaints.contains(complaint), () -> "no " + complaint + " in " + complaints);
            }
        }
    }

    @Test
    void theSidebarIsTheMapOfTheDocumentation() throws Exception {
        String map = Files.readString(Checkout.ROOT.resolve("docs/README.md"));
        List<String> rows = ROW.matcher(map)
                .results()
                .flatMap(row -> LINK.matcher(row.group()).results())
                .map(link -> link.group(1))
                .toList();
        tab.screen(new Screen(1280, false));
        tab.open(site.address("docs/"));

        String shown = tab.run(
                "return [...document.querySelectorAll('.VPSidebarItem a')].map(each => each.innerText).join('\\n')");

        assertEquals(rows, shown.lines().toList());
    }

    @Test
    void theSearchFindsAWord() throws Exception {
        tab.screen(new Screen(1280, false));
        tab.open(site.address(""));

        String found = tab.run("""
                const until = (ask, act) => new Promise(resolve => {
                    const again = () => {
                        const found = ask();
                        if (found) {
                            resolve(found);
                        } else {
                            act();
                            setTimeout(again, 100);
                        }
                    };
                    again();
                });
                const nothing = () => {};
                const button = await until(() => document.querySelector('#local-search button'), nothing);
                // the page answers only after its script has run, and finds only after it has the index
                const input = await until(
                    () => document.querySelector('.VPLocalSearchBox input'), () => button.click());
                const first = await until(() => document.querySelector('.VPLocalSearchBox a.result'), () => {
                    input.value = 'broadcast';
                    input.dispatchEvent(new Event('input', { bubbles: true }));
                });
                const address = first.href;
                first.click();
                await until(() => location.href === address, nothing);
                return document.querySelector('main').innerText;
                """);

        assertTrue(found.toLowerCase(Locale.ROOT).contains("broadcast"), found);
        assertEquals(List.of(), tab.complaints(site.address("")));
    }

    @Test
    void linksToSourcesShowTheSources() throws Exception {
        List<String> sources = site.endingWith(".java.html");
        assertNotEquals(List.of(), sources);
        tab.open(site.address(sources.get(0)));

        String shown = tab.run("return document.querySelector('main pre code').innerText");

        Path source = Checkout.ROOT.resolve(sources.get(0).replaceAll("\\.html$", ""));
        assertEquals(Files.readString(source).stripTrailing(), shown.stripTrailing());
    }

    private static String longer(String one, String other) {
        return length(other) > length(one) ? other : one;
    }

    private static long length(String page) {
        return site.file(page).toFile().length();
    }

    private static List<String> faults(List<String> pages) throws IOException, InterruptedException {
        List<String> faults = new ArrayList<>();
        String pictures = System.getProperty(PICTURES);
        for (String page : pages) {
            tab.screen(SCREENS.get(0));
            tab.open(site.address(page));
            for (Screen screen : SCREENS) {
                tab.screen(screen);
                tab.faults(screen).forEach(fault -> faults.add(page + " " + screen + " " + fault));
                if (pictures != null) {
                    tab.picture(Path.of(pictures, page.replace('/', '.') + "-" + screen + ".png"));
                }
            }
            tab.complaints(site.address("")).forEach(fault -> faults.add(page + " " + fault));
        }
        return faults;
    }
}

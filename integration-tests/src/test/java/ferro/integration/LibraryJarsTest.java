package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The list of the library's jars in docs/architecture.md. */
class LibraryJarsTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final int MAX_JARS = 8;

    @Test
    void theLibraryIsAtMostEightJarsAndEveryBackEndIsInIt() throws IOException {
        String line = Files.readAllLines(CHECKOUT.resolve("docs/architecture.md")).stream()
                .filter(each -> each.startsWith("**The library is these jars, the rest is tools:**"))
                .findFirst()
                .orElseThrow();
        Set<String> jars = found("`ferro-([\\w-]+)`", line);

        assertTrue(jars.size() <= MAX_JARS, jars::toString);
        Set<String> modules = found("<module>([\\w-]+)</module>", Files.readString(CHECKOUT.resolve("pom.xml")));
        Set<String> notBuilt = new TreeSet<>(jars);
        notBuilt.removeAll(modules);
        assertEquals(Set.of(), notBuilt, "jars without a module");
        modules.removeIf(module -> jars.contains(module) || !module.startsWith("backend-"));
        assertEquals(Set.of(), modules, "back ends that are not listed");
    }

    private static Set<String> found(String pattern, String text) {
        Set<String> names = new TreeSet<>();
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
        return names;
    }
}

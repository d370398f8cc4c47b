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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The jars that the poms deploy, beside the lists of docs/architecture.md. */
class LibraryJarsTest {
    private static final int MAX_JARS = 9;
    private static final String LIBRARY = "**The library is these jars, the rest is tools:** ";
    private static final String BESIDE = "Also published are ";

    @Test
    void theLibraryHasAtMostNineDeployedJars() throws IOException {
        Set<String> deployed = new TreeSet<>();
        Set<String> library = new TreeSet<>();
        for (Path pom : poms()) {
            String text = Files.readString(pom);
            if (isDeployed(text)) {
                String artifact = first("</parent>\\s*<artifactId>([\\w-]+)</artifactId>", text);
                deployed.add(artifact);
                if (isInDefaultBuild(pom) && hasClasses(pom) && !isForTests(text)) {
                    library.add(artifact);
                }
            }
        }

        assertTrue(library.size() <= MAX_JARS, library::toString);
        assertEquals(library, listed(LIBRARY), "the library as docs/architecture.md lists it");
        deployed.removeAll(library);
        assertEquals(deployed, listed(BESIDE), "other deployed jars as docs/architecture.md lists them");
    }

    private static Set<Path> poms() throws IOException {
        try (Stream<Path> files = Files.find(
                Checkout.ROOT, 3, (file, attributes) -> file.endsWith("pom.xml") && attributes.isRegularFile())) {
            return files.filter(file -> !file.toString().matches(".*/(target|\\.ferro|starter)/.*"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /** Whether a module says that its jar is deployed; the parent says that others are not. */
    private static boolean isDeployed(String pom) {
        return pom.contains("<maven.deploy.skip>false</maven.deploy.skip>")
                && pom.contains("<packaging>jar</packaging>");
    }

    /** Adapters are built by profiles of the root. */
    private static boolean isInDefaultBuild(Path pom) throws IOException {
        String root = Files.readString(Checkout.ROOT.resolve("pom.xml"));
        String folder = Checkout.ROOT.relativize(pom.getParent()).toString();
        return root.substring(0, root.indexOf("</modules>")).contains("<module>" + folder + "</module>");
    }

    /** Whether the jar has classes. Those of the shaded back end are made from the sources of the other one. */
    private static boolean hasClasses(Path pom) throws IOException {
        try (Stream<Path> files = Files.walk(pom.resolveSibling("src/main"))) {
            return pom.getParent().endsWith("backend-tcp-shaded")
                    || files.anyMatch(file -> file.toString().endsWith(".java") && !file.endsWith("module-info.java"));
        }
    }

    private static boolean isForTests(String pom) {
        return Pattern.compile("<artifactId>junit-jupiter[\\w-]*</artifactId>\\s*</dependency>")
                .matcher(pom)
                .find();
    }

    private static Set<String> listed(String beginning) throws IOException {
        String text = Files.readString(Checkout.ROOT.resolve("docs/architecture.md"));
        int from = text.indexOf(beginning) + beginning.length();
        assertTrue(from >= beginning.length(), () -> "no \"" + beginning + "\"");
        Set<String> names = new TreeSet<>();
        Matcher matcher = Pattern.compile("`(ferro[\\w-]*)`").matcher(text.substring(from, text.indexOf(". ", from)));
        while (matcher.find()) {
            names.add(matcher.group(1));
        }
        return names;
    }

    private static String first(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertTrue(matcher.find(), () -> "no " + pattern + " in " + text);
        return matcher.group(1);
    }
}

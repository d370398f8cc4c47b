package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A folder repository with a staged release. */
record Staging(Path folder) {
    static final String PROPERTY = "ferro.staging";

    /** Returns the folder that the property names, and skips the test if there is no property. */
    static Staging ofProperty() {
        String named = System.getProperty(PROPERTY);
        assumeTrue(named != null, "-D" + PROPERTY + " names no folder that mvn -B verify -Prelease has made");
        Path folder = Path.of(named).toAbsolutePath().normalize();
        assertTrue(Files.isDirectory(folder), () -> folder + " is no folder");
        return new Staging(folder);
    }

    /** Returns the folder of the versions of all artifacts of the release, such as io/ferro. */
    Path groupFolder() throws IOException {
        return folder.resolve(Checkout.group().replace('.', '/'));
    }

    List<String> artifacts() throws IOException {
        try (Stream<Path> artifacts = Files.list(groupFolder())) {
            return artifacts.map(one -> one.getFileName().toString()).sorted().toList();
        }
    }

    /** Returns a staged file, by the name of the artifact and what follows the version, such as {@code -sources.jar}. */
    Path file(String artifact, String rest) throws IOException {
        String version = Checkout.releaseVersion();
        return groupFolder().resolve(artifact).resolve(version).resolve(artifact + "-" + version + rest);
    }

    SortedMap<String, Path> files() throws IOException {
        SortedMap<String, Path> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                found.put(folder.relativize(file).toString(), file);
            }
        }
        return found;
    }

    List<Path> published() throws IOException {
        List<Path> published = new ArrayList<>();
        for (Path file : files().values()) {
            if (!file.toString().matches(".*\\.(md5|sha1|sha256|sha512|asc)")) {
                published.add(file);
            }
        }
        return published;
    }
}

package ferro.integration;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The JDKs of this machine: those that JAVA_HOME_17, JAVA_HOME_25 and JAVA_HOME name, and those in {@link #INSTALLED}. */
public final class Jdks {
    private static final Path INSTALLED = Path.of("/usr/lib/jvm");
    private static final Pattern VERSION = Pattern.compile("(?m)^JAVA_VERSION=\"(\\d+)");

    private Jdks() {}

    private static Optional<Path> find(int version) throws IOException {
        Stream<Path> named = Stream.of("JAVA_HOME_" + version, "JAVA_HOME")
                .map(System::getenv)
                .filter(Objects::nonNull)
                .map(Path::of);
        if (!Files.isDirectory(INSTALLED)) {
            return named.filter(home -> isOf(version, home)).findFirst();
        }
        try (Stream<Path> installed = Files.list(INSTALLED)) {
            return Stream.concat(named, installed.sorted())
                    .filter(home -> isOf(version, home))
                    .findFirst();
        }
    }

    /** Returns a JDK, or skips the test. */
    public static Path assumed(int version) throws IOException {
        Optional<Path> jdk = find(version);
        assumeTrue(jdk.isPresent(), "no JDK " + version + " in JAVA_HOME_" + version + ", JAVA_HOME and " + INSTALLED);
        return jdk.get();
    }

    private static boolean isOf(int version, Path home) {
        try {
            Matcher said = VERSION.matcher(Files.readString(home.resolve("release")));
            return said.find() && said.group(1).equals("" + version) && Files.exists(home.resolve("bin/java"));
        } catch (IOException none) {
            return false;
        }
    }
}

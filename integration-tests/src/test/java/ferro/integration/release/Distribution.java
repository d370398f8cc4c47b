package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.integration.Checkout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The unpacked archive of the ferro command, whose script is run as a user runs it. */
record Distribution(Path root, Path work) {
    private static final int COMMAND_SECONDS = 150;

    /** What the script and the JVM need; neither mvn nor anything else of {@code /usr/bin} is on the path of a command. */
    private static final List<String> TOOLS = List.of("""
            sh bash sed cksum mkdir rm rmdir cat ls sort readlink dirname locale
            sleep find head grep kill ps uname setsid taskset sha256sum env
            """.split("\\s+"));

    /** Returns the archive with such an end, which the release build has made beside the staged artifacts. */
    static Path archive(String end) throws IOException {
        return archive(Staging.ofProperty(), end);
    }

    /** Returns the archive that a build has made with a staged release. */
    static Path archive(Staging staging, String end) throws IOException {
        Path folder = staging.folder().resolveSibling("distribution");
        return folder.resolve("ferro-" + Checkout.releaseVersion() + end);
    }

    static Distribution unpacked(Path archive, Path into, Path work) throws Exception {
        Files.createDirectories(into);
        Child.run(work, "tar", "-xzf", archive.toRealPath().toString(), "-C", into.toString());
        try (Stream<Path> folders = Files.list(into)) {
            return new Distribution(folders.findFirst().orElseThrow(), work);
        }
    }

    /** Runs {@code bin/ferro} on a JDK and waits for its end. */
    Run ferro(Path jdk, Map<String, String> variables, Path from, String... arguments) throws Exception {
        List<String> line = new ArrayList<>(List.of(root.resolve("bin/ferro").toString()));
        line.addAll(List.of(arguments));
        return command(jdk, variables, from, line);
    }

    /** Runs a command with a path that has neither Maven nor a JDK, and waits for its end. */
    Run command(Path jdk, Map<String, String> variables, Path from, List<String> line) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(line).directory(from.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", tools().toString());
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().put("JAVA_HOME", jdk.toString());
        builder.environment().putAll(variables);
        try (Child child = new Child(builder, Duration.ofSeconds(COMMAND_SECONDS))) {
            return new Run(child.exitCode(), text(child.outLines()), text(child.errLines()));
        }
    }

    private static String text(List<String> lines) {
        return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private Path tools() throws IOException {
        Path tools = work.resolve("tools");
        if (!Files.isDirectory(tools)) {
            Files.createDirectory(tools);
            for (String tool : TOOLS) {
                for (String folder : List.of("/bin", "/usr/bin")) {
                    Path found = Path.of(folder, tool);
                    if (Files.exists(found) && !Files.exists(tools.resolve(tool))) {
                        Files.createSymbolicLink(tools.resolve(tool), found);
                    }
                }
            }
        }
        return tools;
    }

    record Run(int exitCode, String out, String err) {
        Run endedWith(int code) {
            assertEquals(code, exitCode, this::toString);
            return this;
        }

        Run printed(String text) {
            assertTrue(out.contains(text), () -> "no \"" + text + "\" in " + this);
            return this;
        }
    }
}

package ferro.integration.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Profile api of pom.xml, which compares the API with that of an earlier release. */
class BinaryCompatibilityTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern INCLUDE = Pattern.compile("<include>([a-z.]+)</include>");

    private static final Pattern IN_TABLE = Pattern.compile("`(ferro[a-z.]*)`");

    @TempDir
    private Path folder;

    @Test
    void theProfileAndThePageListAllExportedPackages() throws IOException {
        String profile = section(CHECKOUT.resolve("pom.xml"), "<id>api</id>", "</profile>");
        String page = section(CHECKOUT.resolve("CONTRIBUTING.md"), "## What is API", "All other packages");

        assertEquals(ApiSources.exportedPackages(), found(INCLUDE, profile), "packages of profile api");
        assertEquals(ApiSources.exportedPackages(), found(IN_TABLE, rows(page)), "packages of CONTRIBUTING.md");
    }

    private static String section(Path file, String begin, String end) throws IOException {
        String text = Files.readString(file);
        int from = text.indexOf(begin);
        assertTrue(from >= 0, () -> begin + " is not in " + file);
        return text.substring(from, text.indexOf(end, from));
    }

    private static String rows(String page) {
        return page.lines().filter(line -> line.startsWith("| ")).collect(Collectors.joining("\n"));
    }

    private static Set<String> found(Pattern name, String text) {
        Set<String> names = new TreeSet<>();
        Matcher each = name.matcher(text);
        while (each.find()) {
            names.add(each.group(1));
        }
        return names;
    }

    @Test
    @Tag("long")
    @Timeout(600)
    void aRemovedMethodOfTheApiFailsTheBuild() throws Exception {
        assumeTrue(onPath("mvn"), "no mvn on the PATH");
        Path baseline = folder.resolve("baseline");
        Path released = jar(baseline, "probe", "0.1.0");
        Files.createDirectories(released.getParent());
        Path built = project("first", "public void kept() {} public void removed() {}", "public void inner() {}");
        assertEquals("", build(built), "without a baseline");
        Files.copy(built.resolve("target/probe-" + value("revision") + ".jar"), released);

        String changed = build(
                project("second", "public void kept() {} public void removed() {} public void added() {}", ""),
                "-Dferro.api.baseline=" + baseline);
        String removed = build(project("third", "public void kept() {}", ""), "-Dferro.api.baseline=" + baseline);
        Files.delete(released);
        String missing = build(built, "-Dferro.api.baseline=" + baseline);

        assertEquals("", changed, "a method is added to the API, and an internal one is removed");
        assertTrue(removed.contains("removed()") && removed.contains("METHOD_REMOVED"), removed);
        assertTrue(missing.contains(released.toString()), missing);
    }

    /** Writes a module with one class in an exported package and one in an internal package. */
    private Path project(String name, String api, String inner) throws IOException {
        Path module = Files.createDirectory(folder.resolve(name));
        Files.writeString(module.resolve("pom.xml"), """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                    <modelVersion>4.0.0</modelVersion>
                    <parent>
                        <groupId>%s</groupId>
                        <artifactId>%s</artifactId>
                        <version>%s</version>
                        <relativePath>%s</relativePath>
                    </parent>
                    <artifactId>probe</artifactId>
                    <properties>
                        <maven.deploy.skip>false</maven.deploy.skip>
                    </properties>
                </project>
                """.formatted(
                        value("groupId"),
                        value("artifactId"),
                        value("version"),
                        module.toRealPath().relativize(CHECKOUT.toRealPath().resolve("pom.xml"))));
        source(module, "ferro.spi", api);
        source(module, "ferro.spi.inner", inner);
        return module;
    }

    private static void source(Path module, String inPackage, String members) throws IOException {
        Path file = module.resolve("src/main/java/" + inPackage.replace('.', '/') + "/Probe.java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "package " + inPackage + ";\npublic final class Probe {" + members + "}\n");
    }

    /** Runs Maven; returns what it printed if the build failed, else nothing. */
    private String build(Path module, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("mvn", "-B", "-Dferro.quick", "-DskipTests"));
        command.addAll(List.of(options));
        command.add("verify");
        ProcessBuilder maven = new ProcessBuilder(command).directory(module.toFile());
        maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
        try (Child child = Child.start(maven)) {
            return child.exitCode() == 0 ? "" : child.toString();
        }
    }

    private static Path jar(Path repository, String artifact, String version) throws IOException {
        return repository
                .resolve(value("groupId").replace('.', '/'))
                .resolve(artifact)
                .resolve(version)
                .resolve(artifact + "-" + version + ".jar");
    }

    /** Returns the first value of an element of the parent's pom, which is that of the parent itself. */
    private static String value(String element) throws IOException {
        Matcher first = Pattern.compile("<" + element + ">(.*?)</" + element + ">")
                .matcher(Files.readString(CHECKOUT.resolve("pom.xml")));
        assertTrue(first.find(), element);
        return first.group(1);
    }

    private static boolean onPath(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(each -> Files.isExecutable(Path.of(each, program)));
    }
}

package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Which Java the scripts accept: a checkout needs a JDK, because it is built, and a distribution needs any Java. */
@EnabledOnOs(OS.LINUX)
class StartScriptTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final Path SHARED = CHECKOUT.resolve("launcher/src/main/sh/start.sh");

    @TempDir
    private Path folder;

    @Test
    void aRuntimeIsEnoughForADistribution() throws Exception {
        assertHas(printed(distribution(), java("17.0.1", "java")), "ferro.launcher.FerroCommand\nhelp\n");
    }

    @Test
    void anOldJavaIsReportedWithTheNeededVersion() throws Exception {
        Path old = java("11.0.2", "java", "javac");

        assertEquals(
                "ferro: JAVA_HOME=" + old + " holds Java 11, need Java 17 or newer\n"
                        + "ferro: set it to such a Java, or unset it to use the newest Java of this machine\n",
                printed(distribution(), old));
    }

    @Test
    void aFolderWithoutJavaIsReported() throws Exception {
        Path empty = Files.createDirectory(folder.resolve("empty"));

        assertEquals(
                "ferro: JAVA_HOME=" + empty + " holds no Java (no bin/java), need Java 17 or newer",
                printed(distribution(), empty).lines().findFirst().orElseThrow());
    }

    @Test
    void aCheckoutRefusesAJavaWithoutCompiler() throws Exception {
        Path runtime = java("17.0.1", "java");

        assertEquals(
                "ferro: JAVA_HOME=" + runtime
                        + " holds Java 17 without a compiler (no bin/javac), need a JDK of version"
                        + " 17 or newer, with which a checkout is built\n"
                        + "ferro: set it to such a JDK, or unset it to use the newest JDK of this machine\n",
                printed(checkout(), runtime));
    }

    @Test
    void aMissingJavaIsReportedWithTheNeededVersion() throws Exception {
        String runtime = printed(distribution(), null);
        assertStarts(runtime, "ferro: found no Java of version 17 or newer under ");
        String jdk = printed(checkout(), null);
        assertStarts(jdk, "ferro: found no JDK of version 17 or newer under ");
    }

    @Test
    void theLauncherReceivesTheJavaOfThePathIfTheScriptPicksAnother() throws Exception {
        Path newest = java("22.0.1", "java");
        Path other = java("17.0.1", "java");
        Path script = distribution();
        find(script, "" + newest);
        String others = path(other);

        assertEquals(1, count(run(script, Map.of("PATH", others)), "-Dferro.path.java=17.0.1 of " + other));
        assertEquals(0, count(run(script, Map.of("PATH", path(newest))), "-Dferro.path.java"));
        assertEquals(0, count(run(script, Map.of("PATH", others, "JAVA_HOME", "" + newest)), "-Dferro.path.java"));
    }

    @Test
    void aMissingHomeFolderIsNotCreatedForTheClassArchive() throws Exception {
        Path missing = folder.resolve("missing");
        Path existing = Files.createDirectory(folder.resolve("existing"));
        Path script = distribution();
        String java = "" + java("17.0.1", "java");

        run(script, Map.of("JAVA_HOME", java, "XDG_CACHE_HOME", "", "HOME", "" + missing));
        assertFalse(Files.exists(missing), "created " + missing);

        run(script, Map.of("JAVA_HOME", java, "XDG_CACHE_HOME", "", "HOME", "" + existing));
        assertTrue(Files.isDirectory(existing.resolve(".cache/ferro")), "no archive in " + existing);
    }

    private static String path(Path java) {
        return java.resolve("bin") + ":" + System.getenv("PATH");
    }

    /** Counts lines that begin so. The script starts Java several times; the last start is that of the command. */
    private static long count(String printed, String start) {
        String last = printed.substring(printed.lastIndexOf("-Dferro.home="));
        assertHas(last, "ferro.launcher.FerroCommand\nhelp\n");
        return last.lines().filter(line -> line.startsWith(start)).count();
    }

    private Path distribution() throws IOException {
        return distribution(folder.resolve("ferro-1"));
    }

    static Path distribution(Path installed) throws IOException {
        Path lib = Files.createDirectories(installed.resolve("lib"));
        Files.copy(SHARED, lib.resolve("start.sh"));
        Files.createFile(installed.resolve("SHA256SUMS"));
        Path script = Files.createDirectory(installed.resolve("bin")).resolve("ferro");
        Files.copy(CHECKOUT.resolve("distribution/src/main/bin/ferro"), script);
        return script;
    }

    static void executable(Path file, String script) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path checkout() throws IOException {
        return checkout(Files.createDirectory(folder.resolve("checkout")));
    }

    /** Copies the script of a checkout, and returns the copy. */
    static Path checkout(Path at) throws IOException {
        Path shared = at.resolve("launcher/src/main/sh/start.sh");
        Files.createDirectories(shared.getParent());
        Files.copy(SHARED, shared);
        return Files.copy(CHECKOUT.resolve("ferro"), at.resolve("ferro"), StandardCopyOption.COPY_ATTRIBUTES);
    }

    private Path java(String version, String... programs) throws IOException {
        Path installed = Files.createDirectory(folder.resolve("java-" + version));
        Files.writeString(installed.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        Path bin = Files.createDirectory(installed.resolve("bin"));
        for (String program : programs) {
            executable(bin.resolve(program), "printf '%s\\n' \"$@\"\n");
        }
        return installed;
    }

    /** Runs a script; without a JAVA_HOME, in a place where it finds no Java. */
    private String printed(Path script, Path javaHome) throws Exception {
        if (javaHome != null) {
            return run(script, Map.of("JAVA_HOME", "" + javaHome));
        }
        find(script, "");
        return run(script, Map.of());
    }

    private static void find(Path script, String java) throws IOException {
        Path shared = Files.exists(script.resolveSibling("launcher"))
                ? script.resolveSibling("launcher/src/main/sh/start.sh")
                : script.resolveSibling("../lib/start.sh");
        String text = Files.readString(shared);
        assertHas(text, "jdk_candidates() {\n");
        Files.writeString(
                shared,
                text.replace("newest_jdk() {\n", "jdk_candidates() { echo \"" + java + "\"; }\nnewest_jdk() {\n"));
    }

    private String run(Path script, Map<String, String> variables) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(List.of("sh", script.toString(), "help"));
        builder.environment().remove("JAVA_HOME");
        builder.environment().put("XDG_CACHE_HOME", folder.resolve("caches").toString());
        builder.environment().putAll(variables);
        try (Child child = Child.start(builder.directory(folder.toFile()))) {
            child.exitCode();
            return child.outLines().stream().map(line -> line + "\n").collect(Collectors.joining());
        }
    }
}

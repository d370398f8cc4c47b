package ferro.launcher.program;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.input.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class LaunchTargetTest {
    @TempDir
    private Path folder;

    private JavaSettings settings;

    @BeforeEach
    void readSettings() {
        settings = JavaSettings.of(Optional.of(folder.toString()), List.of(), Map.of());
    }

    @Test
    void aSourceFileIsCompiledOnceAndItsFirstClassIsRun() throws IOException {
        Path file = write("Main.java", "package a.b; public class Hello { public static void main(String[] a) {} }");

        List<String> line = target(file.toString(), "--fast").commandLine(folder, false);

        assertEquals(List.of("a.b.Hello", "--fast"), line.subList(line.size() - 2, line.size()));
        assertTrue(Files.exists(folder.resolve("classes/a/b/Hello.class")));
        assertHas(line.get(line.indexOf("-cp") + 1), folder.resolve("classes").toString());
    }

    @Test
    void aSourceFileMayUseFilesInItsFolder() throws IOException {
        write("Other.java", "class Other { static final int X = 3; }");
        Path file = write("Main.java", "class Main { public static void main(String[] a) { int x = Other.X; } }");

        List<String> line = target(file.toString()).commandLine(Files.createDirectory(folder.resolve("job")), false);

        assertEquals("Main", line.get(line.size() - 1));
        assertTrue(Files.exists(folder.resolve("job/classes/Other.class")));
    }

    @Test
    void anErrorInTheSourceIsShownWithItsLine() throws IOException {
        Path file = write("Main.java", "class Main {\n int x = y;\n}");

        assertMessage(
                "Main.java:2: error: cannot find symbol",
                () -> target(file.toString()).commandLine(folder, false));
    }

    @Test
    void aJarRunsItsMainClassWithFerroOnTheClassPath() throws IOException {
        Path jar = jar(" app.Start ");

        List<String> line = target(jar.toString(), "x").commandLine(folder, false);

        assertEquals(List.of("app.Start", "x"), line.subList(line.size() - 2, line.size()));
        String path = line.get(line.indexOf("-cp") + 1);
        assertStarts(path, jar.toString());
        assertTrue(path.endsWith(settings.library().forPrograms().toString()), line.toString());
    }

    @Test
    void aJarRunsOnlyWithTheTypedClassPath() throws IOException {
        Path jar = jar("app.Start");
        JavaSettings typed = JavaSettings.of(Optional.of("/x/extra.jar"), List.of(), Map.of());
        JavaSettings inherited = JavaSettings.of(Optional.empty(), List.of(), Map.of("CLASSPATH", "/x/other.jar"));

        assertStarts(classPath(jar, typed), jar + ":/x/extra.jar:");
        assertEquals(jar + ":" + inherited.library().forPrograms(), classPath(jar, inherited));
    }

    private String classPath(Path jar, JavaSettings path) throws IOException {
        List<String> line = JavaTarget.of(List.of("" + jar), path).commandLine(folder, false);
        return line.get(line.indexOf("-cp") + 1);
    }

    @Test
    void aWildcardInTheClassPathMatchesJarsAsInTheJvm() throws IOException {
        Path jars = Files.createDirectory(folder.resolve("jars"));
        try (JarOutputStream written = new JarOutputStream(Files.newOutputStream(jars.resolve("a.jar")))) {
            written.putNextEntry(new ZipEntry("app/Start.class"));
            written.closeEntry();
        }
        Files.createDirectories(jars.resolve("app"));
        Files.writeString(jars.resolve("app/Loose.class"), "");
        settings = JavaSettings.of(Optional.of(jars + "/*"), List.of(), Map.of());

        List<String> line = target("app.Start").commandLine(folder, false);

        assertStarts(line.get(line.indexOf("-cp") + 1), jars + "/*:");
        assertMessage("main class \"app.Loose\" not found", () -> target("app.Loose"));
        settings = JavaSettings.of(Optional.of(folder + "/none/*"), List.of(), Map.of());
        assertMessage("main class \"app.Start\" not found", () -> target("app.Start"));
    }

    @Test
    void aJarWithoutAMainClassIsRefused() throws IOException {
        Path jar = jar(null);

        assertMessage("names no Main-Class", () -> target(jar.toString()));
    }

    @Test
    void aMissingTargetIsNamed() {
        assertMessage("None.java not found", () -> target("None.java"));
        assertMessage("none.jar not found", () -> target("none.jar"));
        assertMessage("main class \"app.None\" not found", () -> target("app.None"));
        assertMessage("main class \"no name\" not found", () -> target("no name"));
        assertMessage("nothing to run", this::target);
        assertMessage(
                "command \"no-such-program\" not found",
                () -> LaunchTarget.ofCommand(List.of("no-such-program"), new ProgramFinder("/bin")));
        assertMessage("nothing to run", () -> LaunchTarget.ofCommand(List.of(), new ProgramFinder("/bin")));
    }

    @Test
    void theMainClassIsFoundOnTheClassPath() throws IOException {
        String own = JavaTarget.class.getName();

        List<String> line = target(own).commandLine(folder, false);

        assertEquals(own, line.get(line.size() - 1));
    }

    /** A rank that is killed while it loads a native library leaves a file, which is removed with the folder of the job. */
    @Test
    void nativeLibrariesAreCopiedIntoTheJobFolderByDefault() throws IOException {
        String own = JavaTarget.class.getName();
        String option = "-Dferro.shaded.io.netty.native.workdir=";
        settings = JavaSettings.of(Optional.empty(), List.of(option + "/other"), Map.of());

        List<String> line = target(own).commandLine(folder, false);

        assertTrue(line.indexOf(option + folder) >= 0, line.toString());
        assertTrue(line.indexOf(option + folder) < line.indexOf(option + "/other"), line.toString());
    }

    @Test
    void theSerialCollectorIsChosenBelowTwoCoresByDefault() throws IOException {
        String own = JavaTarget.class.getName();
        JavaSettings chosen = JavaSettings.of(Optional.empty(), List.of("-XX:+UseG1GC"), Map.of());
        JavaSettings byVariable =
                JavaSettings.of(Optional.empty(), List.of(), Map.of("JAVA_TOOL_OPTIONS", "-XX:+UseG1GC"));

        assertTrue(target(own).commandLine(folder, true).contains("-XX:+UseSerialGC"));
        assertEquals(false, target(own).commandLine(folder, false).contains("-XX:+UseSerialGC"));
        assertEquals(false, chosen.commandLine(true, own, List.of()).contains("-XX:+UseSerialGC"));
        assertEquals(false, byVariable.commandLine(true, own, List.of()).contains("-XX:+UseSerialGC"));
    }

    @Test
    void archivedClassesAreUsedOnlyIfFerrosJarsComeFirst() throws IOException {
        Path archive = write("ranks.jsa", "classes");
        ClassPath library = ClassPath.parse(folder.resolve("a.jar").toString());
        ClassPath none = ClassPath.parse("");
        JavaSettings unnamed = new JavaSettings(ClassPath.parse("/x"), false, none, library, List.of(), "");
        JavaSettings named = new JavaSettings(ClassPath.parse("/x"), true, none, library, List.of(), "");
        JavaSettings without = new JavaSettings(none, false, none, library, List.of("-Xshare:off"), "");
        String option = "-XX:SharedArchiveFile=" + archive;

        System.setProperty(JavaSettings.ARCHIVE, archive.toString());
        assertEquals(library + ":/x", unnamed.classPath().toString());
        assertTrue(unnamed.commandLine(false, "Main", List.of()).contains(option));
        assertEquals("/x:" + library, named.classPath().toString());
        assertEquals(false, named.commandLine(false, "Main", List.of()).contains(option));
        assertEquals(false, without.commandLine(false, "Main", List.of()).contains(option));
        assertTrue(settings.withJar(folder.resolve("app.jar")).programFirst());
        Files.delete(archive);
        assertEquals(false, unnamed.commandLine(false, "Main", List.of()).contains(option));
        System.clearProperty(JavaSettings.ARCHIVE);
        assertEquals(false, unnamed.commandLine(false, "Main", List.of()).contains(option));
    }

    @Test
    void theClassPathOfProgramsHasNoLauncherJars() {
        ClassPath all = ClassPath.parse(
                "/l/ferro-spi-0.1.0.jar:/l/ferro-launcher-0.1.0.jar:/l/picocli-4.7.7.jar:/l/gson-2.13.2.jar:"
                        + "/b/launcher/target/classes:/l/guava-33.8.0-jre.jar:/b/backend-tcp-shaded/target/classes:/l/jna-jpms-5.19.1.jar");

        assertEquals(
                List.of("/l/ferro-spi-0.1.0.jar", "/b/backend-tcp-shaded/target/classes", "/l/jna-jpms-5.19.1.jar"),
                all.forPrograms().entries());
    }

    private LaunchTarget target(String... words) {
        return JavaTarget.of(List.of(words), settings);
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private Path jar(String mainClass) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        if (mainClass != null) {
            manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, mainClass);
        }
        Path jar = folder.resolve("app.jar");
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    private static void assertMessage(String part, Executable step) {
        assertHas(message(BadInputException.class, step), part);
    }
}

package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Child;
import ferro.harness.Jvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the launcher says to type next, typed. */
class InvocationTest {
    @TempDir
    private Path folder;

    @Test
    void theCommandLineBeginsAsTheScriptWasTyped() {
        assertEquals(
                "../ferro/ferro analyze /tmp/x",
                Invocation.of(Optional.of("../ferro/ferro"), "").line("analyze", Path.of("/tmp/x")));
        assertEquals(
                "'/my tools/ferro' analyze '/tmp/it'\\''s'",
                Invocation.of(Optional.of("/my tools/ferro"), "").line("analyze", "/tmp/it's"));
    }

    @Test
    void theCommandLineWorksFromAnyFolderWithoutTheScript() throws Exception {
        String line = Invocation.of(Optional.empty(), Jvm.classPath()).line("secret", folder.resolve("a secret"));

        assertEquals(folder.resolve("a secret") + "\n", printed(folder, "PATH=/usr/bin:/bin; " + line));
    }

    @Test
    void foldersOfJarsArePrintedWithAWildcard() {
        String path = String.join(File.pathSeparator, "/lib/a.jar", "/one/b.jar", "/lib/c.jar", "/classes");

        String command = Invocation.of(Optional.empty(), path).command();

        assertEquals(Jvm.java() + " -cp '/lib/*:/one/b.jar:/classes' ferro.launcher.FerroCommand", command);
    }

    @Test
    void theScriptPrintsTheCommandAsItWasTyped() throws Exception {
        Path home = checkout(Files.createDirectories(folder.resolve("check out")));
        Files.createSymbolicLink(Files.createDirectory(folder.resolve("bin")).resolve("ferro"), home.resolve("ferro"));

        assertEquals("./ferro\n", typed(home, "./ferro help"));
        assertEquals("./ferro\n", typed(home, "sh ferro help"));
        assertEquals("check out/ferro\n", typed(folder, "'check out/ferro' help"));
        assertEquals("../bin/ferro\n", typed(home, "../bin/ferro help"));
        assertEquals("ferro\n", typed(home, "PATH=" + folder.resolve("bin") + ":$PATH ferro help"));
    }

    /** A JVM takes classes only from an archive that its own build of the JDK has made. */
    @Test
    void twoJdksOfOneVersionHaveTheirOwnClassArchives() throws Exception {
        Path checkedOut = checkout(Files.createDirectory(folder.resolve("checkout")));
        String first = archive(checkedOut, "IMPLEMENTOR=\"One & Sons\"", "JAVA_RUNTIME_VERSION=\"17.0.1+2\"");
        String second = archive(checkedOut, "IMPLEMENTOR=\"Two\"", "JAVA_RUNTIME_VERSION=\"17.0.1+2\"");
        String third = archive(checkedOut, "IMPLEMENTOR=\"Two\"", "JAVA_RUNTIME_VERSION=\"17.0.1+3\"");

        assertEquals(checkedOut.toRealPath() + "/.ferro/lib-1/ranks-One---Sons-17.0.1+2-17.0.1.jsa\n", first);
        assertEquals(first.replace("One---Sons", "Two"), second);
        assertEquals(second.replace("+2", "+3"), third);
    }

    private String archive(Path checkedOut, String... release) throws Exception {
        String lines = String.join("\n", release) + "\nJAVA_VERSION=\"17.0.1\"\n";
        Files.writeString(checkedOut.resolve("jdk/release"), lines);
        return printed(
                checkedOut,
                "JAVA_HOME='" + checkedOut.resolve("jdk") + "' ./ferro help 2>&1 | sed -n 's/^-Dferro.archive=//p'");
    }

    /** The script, with a build that is done and a JDK that prints what it is given. */
    private static Path checkout(Path home) throws IOException {
        StartScriptTest.checkout(home);
        Path lib = Files.createDirectories(home.resolve(".ferro/lib-1"));
        Files.writeString(home.resolve(".ferro/stamp"), lib + "\n");
        Files.createFile(lib.resolve("archived-17.0.1"));
        Path bin = Files.createDirectories(home.resolve("jdk/bin"));
        Files.writeString(home.resolve("jdk/release"), "JAVA_VERSION=\"17.0.1\"\n");
        StartScriptTest.executable(bin.resolve("javac"), "");
        StartScriptTest.executable(bin.resolve("java"), "printf '%s\\n' \"$@\"\n");
        return home;
    }

    private String typed(Path where, String line) throws Exception {
        String jdk = "export JAVA_HOME='" + folder.resolve("check out/jdk") + "'; ";
        return printed(where, jdk + line + " | sed -n 's/^-Dferro.command=//p'");
    }

    private String printed(Path where, String line) throws Exception {
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", line).directory(where.toFile());
        try (Child child = Child.start(shell)) {
            child.exitCode();
            return child.outLines().stream().map(said -> said + "\n").collect(Collectors.joining());
        }
    }
}

package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the launcher finds around it: temporary folder, locale, limit of open files. */
@EnabledOnOs(OS.LINUX)
class LauncherSurroundingsTest {
    /** What the script {@code ferro} reads. */
    private static final String START = "launcher/src/main/sh/start.sh";

    @TempDir
    private Path folder;

    @Test
    @Tag("long")
    void temporaryFilesAreBelowTmpdir() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        try (LauncherRun run = LauncherRun.words(
                Map.of("TMPDIR", temporary.toString()),
                "run -n 1 -- sh -c",
                "echo $FERRO_SECRET_FILE; echo $FERRO_RECORDER_DIR")) {
            assertEquals(0, run.exitCode(), run::toString);

            assertTrue(run.outLines().get(0).startsWith("[0] " + temporary + "/ferro-job-"), run::toString);
            assertTrue(run.outLines().get(1).startsWith("[0] " + temporary + "/ferro-recordings-"), run::toString);
        }
        LauncherRun run = LauncherRun.start(
                        Map.of("TMPDIR", temporary.toString()), "run", "-n", "1", main("java.io.tmpdir"))
                .ends(0);
        assertEquals(List.of("[0] " + temporary), run.outLines());
        try (Stream<Path> left = Files.list(temporary)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "mount -t tmpfs -o ro none T, Read-only file system",
        "mount -t tmpfs -o size=64k none T && head -c 64k /dev/zero >T/fill, No space left on device",
        "rmdir T, no such folder"
    })
    @DisplayName("row 50: a temporary folder that takes no files is one line before anything starts")
    void anUnwritableTemporaryFolderIsReportedInOneLine(String made, String why) throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        assumeTrue(Child.succeeds("unshare", "--mount", "true"), "cannot mount here: needs root and unshare");
        String script = made.replaceAll("\\bT\\b", temporary.toString());
        String apart = "exec unshare --mount sh -c '" + script + "; exec \"$0\" \"$@\"' \"$0\" \"$@\"";
        Map<String, String> variables = Map.of("TMPDIR", temporary.toString());
        LauncherRun run = LauncherRun.inShell(apart, variables, "run", "-n", "1", "--", "echo", "started")
                .ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(
                List.of("ferro run: temporary folder " + temporary + ": cannot be written (" + why
                        + "): free space there, or name another folder with TMPDIR"),
                run.errLines());
    }

    private String main(String property) throws IOException {
        String text = "class Main { public static void main(String[] a) { System.out.println(System.getProperty(\""
                + property + "\")); } }";
        return Files.writeString(folder.resolve("Main.java"), text).toString();
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"LC_ALL=C", "LC_ALL= LANG=no_SUCH.UTF-8", "LC_ALL=C.UTF-8"})
    void theScriptKeepsLocaleAndBytesOfArgumentsAndVariables(String locale) throws Exception {
        String rank = "printf \"%s|%s|%s|%s\" \"$1\" \"$V\" \"$W\" \"${LC_ALL-unset}\" | od -An -tx1 | tr -d \" \\n\"";
        String script = "V=$(printf '\\303\\274') W=$(printf '\\374') " + locale + "; export V W LC_ALL LANG; "
                + "exec \"$SCRIPT\" run -n 1 -- sh -c '" + rank + "' x \"$(printf '\\303\\244')\"";
        LauncherRun run = LauncherRun.inShell(script, ofScript()).ends(0);
        String after = locale.startsWith("LC_ALL= ") ? "" : locale.substring("LC_ALL=".length());
        assertEquals(List.of("[0] c3a4" + "7c" + "c3bc" + "7c" + "fc" + "7c" + hex(after)), run.outLines());
    }

    @Test
    void variablesOfAnOuterJobDoNotReachTheProcessOfARank() throws Exception {
        String script =
                "FERRO_RANK=7; export FERRO_RANK; exec \"$SCRIPT\" run -n 1 -- sh -c 'echo ${FERRO_RANK-unset}'";
        LauncherRun run = LauncherRun.inShell(script, ofScript()).ends(0);
        assertEquals(List.of("[0] unset"), run.outLines());
    }

    @ParameterizedTest
    @CsvSource({
        "main class Env, 'run -n 1 \"$F/Env$e.java\"', ''",
        "main class Env, 'run -n 1 -cp \"$F/classes\" \"Env$e\"', ''",
        "temporary folder /, 'run -n 1 Main.java', TMPDIR=\"$F/$e\"; export TMPDIR;",
        "current folder /, 'run -n 1 Main.java', cd \"$F/$e\";",
        "class path entry /, 'run -n 1 -cp \"$F/$e\" ferro.examples.hello.HelloAllReduce', ''",
    })
    @Tag("long")
    void aNameThatTheLocaleOfTheJvmCannotReadIsRefused(String what, String command, String before) throws Exception {
        LauncherRun run = beyondAscii(before, command).ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(1, run.errLines().size(), run::toString);
        assertTrue(run.errText().startsWith("ferro run: " + what), run::toString);
        String why = ": a JVM cannot read this name, because the locale supports only ASCII: set LC_ALL=C.UTF-8";
        assertTrue(run.errText().strip().endsWith(why), run::toString);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"run -n 1 Main.java", "run -n 1 -- sh -c 'cd \"$F/$e\" && echo started'"})
    void aProgramWithAsciiNamesRunsInAnAsciiLocale(String command) throws Exception {
        LauncherRun run = beyondAscii("export e;", command).ends(0);
        assertEquals(List.of("[0] started"), run.outLines());
    }

    /** Runs the script {@code ferro} under the locale C, beside a folder and a class whose names ASCII cannot write. */
    private LauncherRun beyondAscii(String before, String command) throws IOException {
        String main = "public static void main(String[] a) { System.out.println(\"started\"); } }";
        Files.writeString(folder.resolve("text"), main);
        String script = "e=$(printf '\\303\\251'); mkdir \"$F/$e\" \"$F/classes\"; cd \"$F\" || exit 9; "
                + "echo \"class Main { $(cat \"$F/text\")\" >Main.java; cp Main.java \"$e\"; "
                + "echo \"class Env$e { $(cat \"$F/text\")\" >\"$F/Env$e.java\"; "
                + "LC_ALL=C.UTF-8 \"$JAVA_HOME/bin/javac\" -d \"$F/classes\" \"$F/Env$e.java\"; "
                + before + " LC_ALL=C; export LC_ALL; exec \"$SCRIPT\" " + command;
        Map<String, String> variables = new HashMap<>(ofScript());
        variables.put("F", folder.toString());
        return LauncherRun.inShell(script, variables);
    }

    @Test
    void anArgumentThatIsNotTextIsRefused() throws Exception {
        String script = "LC_ALL=C; export LC_ALL; exec \"$SCRIPT\" run -n 1 -- echo \"$(printf '\\344')\"";
        LauncherRun run = LauncherRun.inShell(script, ofScript()).ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(1, run.errLines().size(), run::toString);
        assertTrue(run.errText().startsWith("ferro: argument 6 has bytes that are invalid in UTF-8"), run::toString);
    }

    @Test
    void withClosedStandardOutputTheJobRunsWithoutOutput() throws Exception {
        String script = "exec \"$SCRIPT\" run -n 1 -- sh -c 'echo out; echo err >&2' >&-";
        LauncherRun run = LauncherRun.inShell(script, ofScript()).ends(0);
        assertTrue(run.errLines().contains("[0] err"), run::toString);
        assertTrue(run.errLines().stream().noneMatch(line -> line.contains("WARNING")), run::toString);
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 24, 28})
    @DisplayName("row 50: too few open files for the launcher are one line before anything starts")
    void tooFewOpenFilesForTheLauncherAreReportedInOneLine(int most) throws Exception {
        String script = "ulimit -n " + most + "; exec \"$SCRIPT\" run -n 1 -- echo started";
        LauncherRun run = LauncherRun.inShell(script, ofScript()).ends(2);
        assertEquals(List.of(), run.outLines());
        assertEquals(1, run.errLines().size(), run::toString);
        assertTrue(
                run.errText()
                        .matches("ferro: the launcher needs about \\d+ open files per process, but may" + " have only "
                                + most + ": raise the limit \\(ulimit -n 1024\\)"),
                run::toString);
    }

    /** JDK 25 and newer print a line of their own about a folder that does not exist. */
    @ParameterizedTest
    @CsvSource({"folder, true", "missing, false"})
    void onlyAnExistingTemporaryFolderIsPassedToTheJvm(String name, boolean isPassed) throws Exception {
        Files.createDirectory(folder.resolve("folder"));
        Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
        Files.writeString(
                bin.resolveSibling("release"), "JAVA_VERSION=\"" + System.getProperty("java.version") + "\"\n");
        for (String tool : List.of("java", "javac")) {
            Path file = Files.writeString(bin.resolve(tool), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
            assertTrue(file.toFile().setExecutable(true));
        }
        String temporary = folder.resolve(name).toString();
        Map<String, String> variables = Map.of(
                "SCRIPT", script().toString(),
                "JAVA_HOME", folder.resolve("jdk").toString(),
                "TMPDIR", temporary);
        LauncherRun run =
                LauncherRun.inShell("exec \"$SCRIPT\" help", variables).ends(0);
        assertEquals(isPassed, run.outLines().contains("-Djava.io.tmpdir=" + temporary), run::toString);
    }

    private Map<String, String> ofScript() throws IOException {
        return Map.of("SCRIPT", script().toString(), "JAVA_HOME", System.getProperty("java.home"));
    }

    /** Returns the script {@code ferro} in a folder of its own, with what the build has made for these tests. */
    private Path script() throws IOException {
        Path lib = Files.createDirectories(folder.resolve("home/.ferro/lib-1"));
        Files.createFile(lib.resolve("archived-" + buildOfJdk()));
        int number = 0;
        for (String entry : LauncherRun.classPath().split(File.pathSeparator)) {
            pointing(lib.resolve(String.format("%03d.jar", number++)), Path.of(entry));
        }
        Path script = folder.resolve("home/ferro");
        Files.copy(Checkout.ROOT.resolve("ferro"), script);
        Path shared = folder.resolve("home").resolve(START);
        Files.createDirectories(shared.getParent());
        Files.copy(Checkout.ROOT.resolve(START), shared);
        // at the end: what is newer than the stamp would be built
        Files.writeString(lib.resolveSibling("stamp"), lib + "\n");
        assertTrue(script.toFile().setExecutable(true));
        return script;
    }

    /** Returns the vendor and the versions of this JDK, as the script names its archives. */
    private static String buildOfJdk() throws IOException {
        return Files.readAllLines(Path.of(System.getProperty("java.home"), "release")).stream()
                .filter(line -> line.matches("(IMPLEMENTOR|JAVA_RUNTIME_VERSION|JAVA_VERSION)=.*"))
                .map(line -> line.replaceFirst("^[A-Z_]*=\"(.*)\"", "$1").replaceAll("[^A-Za-z0-9.+]", "-"))
                .collect(Collectors.joining("-"));
    }

    private static void pointing(Path jar, Path classes) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes()
                .put(Attributes.Name.CLASS_PATH, classes.toUri().toString());
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    }

    private static String hex(String text) {
        return text.chars().mapToObj(Integer::toHexString).collect(Collectors.joining());
    }
}

package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.harness.Jvm;
import ferro.harness.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The script of a distribution as process 1 of a process namespace, as in a container without an init. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class ScriptAsProcessOneTest {
    @TempDir
    private Path folder;

    private Process namespace;

    @BeforeEach
    void needsNamespaces() throws Exception {
        assumeTrue(
                Child.succeeds("unshare", "--pid", "--fork", "--mount-proc", "true"),
                "cannot make a process namespace here: needs root and unshare");
    }

    @AfterEach
    void end() {
        if (namespace != null) {
            namespace.descendants().forEach(ProcessHandle::destroyForcibly);
            namespace.destroyForcibly();
        }
    }

    @Test
    void aSignalBeforeTheLauncherListensEndsTheJob() throws Exception {
        start("exec tail -f /dev/null");

        signal("TERM");

        assertEquals(143, exitCode());
    }

    @Test
    void aSignalReachesTheLauncher() throws Exception {
        start("trap 'exit 7' USR1; : >\"$0.listens\"; tail -f /dev/null & wait");
        until(folder.resolve("java/bin/java.listens"));

        signal("USR1");

        assertEquals(7, exitCode());
    }

    @Test
    void aSignalDuringAStepOfTheScriptEndsTheJobAfterTheStep() throws Exception {
        // the release file is read before the launcher is started
        Path release = folder.resolve("java/release");
        prepare("exec tail -f /dev/null");
        Files.delete(release);
        assertEquals(0, new ProcessBuilder("mkfifo", "" + release).start().waitFor());
        launch();
        try (var writer = Files.newOutputStream(release)) {
            // opens once the script reads
            signal("TERM");
            writer.write("JAVA_VERSION=\"17.0.1\"\n".getBytes());
        }

        assertEquals(143, exitCode());
        assertEquals(false, Files.exists(folder.resolve("java/bin/java.started")));
    }

    @Test
    void orphansAreReapedAndExitCodeAndInputArePassedThrough() throws Exception {
        String path = System.getProperty("java.class.path");
        start("exec " + Jvm.java() + " -cp '" + path + "' '" + Orphans.class.getName() + "'");
        namespace.getOutputStream().write(5);
        namespace.getOutputStream().flush();

        assertEquals(5, exitCode());
    }

    @Test
    void aLauncherWithoutTheScriptAdvisesToUseAnInit() throws Exception {
        launch(Jvm.line(List.of(), FerroCommand.class, "run", "-n", "1", "--", "true"));

        assertEquals(0, exitCode());
        String said = Files.readString(folder.resolve("out"));
        assertTrue(
                said.lines().anyMatch(line -> line.startsWith("ferro: this JVM is process 1 of its container: ")),
                said);
    }

    /** Stands for the launcher: leaves an orphan, and waits until process 1 has reaped it. */
    static final class Orphans {
        private Orphans() {}

        public static void main(String[] arguments) throws Exception {
            int code = System.in.read();
            Process shell = new ProcessBuilder("sh", "-c", "sleep 0.5 >/dev/null & echo $!").start();
            Path orphan = Path.of("/proc", new String(shell.getInputStream().readAllBytes()).trim());
            shell.waitFor();
            long began = System.nanoTime();
            while (Files.exists(orphan)) {
                if (System.nanoTime() - began > TimeUnit.SECONDS.toNanos(20)) {
                    System.exit(1);
                }
                Thread.onSpinWait();
            }
            System.exit(code);
        }
    }

    private void start(String java) throws Exception {
        prepare(java);
        launch();
        until(folder.resolve("java/bin/java.started"));
    }

    /** Writes a distribution, and a Java that does this in place of the launcher. */
    private void prepare(String java) throws IOException {
        StartScriptTest.distribution(folder.resolve("ferro"));
        Path program = Files.createDirectories(folder.resolve("java/bin")).resolve("java");
        Files.writeString(folder.resolve("java/release"), "JAVA_VERSION=\"17.0.1\"\n");
        StartScriptTest.executable(
                program, "for last; do :; done\n[ \"$last\" = help ] || exit 0\n: >\"$0.started\"\n" + java + "\n");
    }

    private void launch() throws IOException {
        launch(List.of("sh", "" + folder.resolve("ferro/bin/ferro"), "help"));
    }

    private void launch(List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("unshare", "--pid", "--fork", "--mount-proc");
        builder.command().addAll(command);
        builder.environment().put("JAVA_HOME", "" + folder.resolve("java"));
        builder.environment().put("XDG_CACHE_HOME", "" + folder.resolve("caches"));
        namespace = builder.redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile())
                .start();
    }

    private static void until(Path file) {
        Processes.await(() -> Files.exists(file), Duration.ofSeconds(60), "no " + file);
    }

    private void signal(String name) throws Exception {
        long script = namespace.children().findFirst().orElseThrow().pid();
        Processes.signal(script, name);
    }

    private int exitCode() throws Exception {
        assertTrue(
                namespace.waitFor(100, TimeUnit.SECONDS),
                "process 1 still runs: " + Files.readString(folder.resolve("out")));
        return namespace.exitValue();
    }
}

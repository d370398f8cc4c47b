package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import ferro.harness.Ports;
import ferro.harness.Processes;
import ferro.integration.hosts.NamespaceHosts;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program of a user, from its source file to a sum between real processes, over shared memory unless a test says otherwise. */
class UserProgramTest {
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final String MAIN = """
            import ferro.ReduceOp;
            import ferro.group.ProcessGroup;

            public class Main {
                public static void main(String[] arguments) throws Exception {
                    try (ProcessGroup group = ProcessGroup.join()) {
                        System.out.println("links " + group.linkReport());
                        float[] sum = {group.rank() + 3, 10 * group.rank() + 7};
                        group.allReduce(sum, ReduceOp.SUM);
                        System.out.println("sum " + sum[0] + " " + sum[1]);
                        System.out.println("file " + System.getenv("FERRO_SECRET_FILE"));
                        System.out.println("self " + ProcessHandle.current().pid());
                        while (arguments.length > 0) {
                            group.allReduce(sum, ReduceOp.MAX);
                        }
                    }
                }
            }
            """;

    /** Joins again when the launcher has received that all ranks have joined. */
    private static final String TWICE = """
            import ferro.group.ProcessGroup;
            import java.nio.file.Files;
            import java.nio.file.Path;

            public class Twice {
                public static void main(String[] arguments) throws Exception {
                    try (ProcessGroup group = ProcessGroup.join()) {
                        group.barrier();
                    }
                    Path secret = Path.of(System.getenv("FERRO_SECRET_FILE"));
                    while (arguments[0].equals("removed") && Files.exists(secret)) {
                        Thread.sleep(10);
                    }
                    try (ProcessGroup group = ProcessGroup.join()) {
                        group.barrier();
                        System.out.println("joined twice");
                    }
                }
            }
            """;

    /** Main as classes: the launcher compiles a source file anew for every job. */
    @TempDir
    private static Path classes;

    @TempDir
    private Path folder;

    @BeforeAll
    static void compileMain() throws IOException {
        compile(LauncherRun.classPath(), classes);
    }

    @Test
    void aSourceFileOfThreeRanksSumsOverTcp() throws Exception {
        LauncherRun run = LauncherRun.start("run", "-n", "3", "--backend", "tcp", "--links", "tcp", source())
                .ends(0);
        Links.TCP.assertFoundIn(run.restOfLine("[0] links "), 3);
        for (int rank = 0; rank < 3; rank++) {
            assertEquals("12.0 51.0", run.restOfLine("[" + rank + "] sum "), run::toString);
        }
    }

    @Tag("long")
    @Test
    void theSecretIsDeletedOnceAllRanksHaveJoined() throws Exception {
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", "-cp", "" + classes, "Main", "forever")) {
            Path secret = Path.of(run.restOfLine("[0] file "));

            Processes.await(() -> !Files.exists(secret), SOON, secret + " is still there");

            assertTrue(Processes.runs(Long.parseLong(run.restOfLine("[0] self "))), run::toString);
        }
    }

    @Test
    @Tag("long")
    void aProgramThatJoinsAgainIsAdvisedToUseASecretFile() throws Exception {
        String twice = Files.writeString(folder.resolve("Twice.java"), TWICE).toString();
        try (LauncherRun run = LauncherRun.start("run", "-n", "2", twice, "removed")) {
            assertEquals(1, run.exitCode(), run::toString);

            String told =
                    "does not exist: ferro secret FILE creates one; ferro run deletes a secret that it generated once"
                            + " all ranks have joined, so a program that joins again needs --secret-file FILE";
            String failed = "UNAUTHENTICATED: FERRO_SECRET_FILE: ";
            assertTrue(
                    run.errLines().stream().anyMatch(line -> line.contains(failed) && line.contains(told)),
                    run::toString);
        }
        String secret = folder.resolve("made").toString();
        LauncherRun.start("secret", secret).ends(0);
        LauncherRun run = LauncherRun.start("run", "-n", "2", "--secret-file", secret, twice, "stays")
                .ends(0);
        run.restOfLine("[0] joined twice");
        run.restOfLine("[1] joined twice");
    }

    @Tag("long")
    @Test
    void aProgramRunsOnThePrintedClassPathWithoutTheLauncher() throws Exception {
        String path = printedClassPath();
        compile(path, folder);
        List<String> line =
                Jvm.line(path + File.pathSeparator + folder, List.of("--enable-native-access=ALL-UNNAMED"), "Main");
        try (Job job = Job.byHand(2, Map.of(), rank -> line)) {
            for (Child rank : job.ended(0)) {
                assertTrue(rank.outLines().contains("sum 7.0 24.0"), rank::toString);
            }
        }
    }

    @Test
    @Tag("long")
    void twoLaunchersMakeOneJob() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "c0ffee".repeat(10));
        String master = "127.0.0.1:" + Ports.free();

        try (LauncherRun first = LauncherRun.start(twoNodes("0", master, secret))) {
            // on loopback node 0 comes first: no other machine can be meant
            first.awaitErrLine("waiting for node 1 of 2");
            try (LauncherRun second = LauncherRun.start(twoNodes("1", master, secret))) {
                assertEquals(0, first.exitCode(), first::toString);
                assertEquals(0, second.exitCode(), second::toString);

                assertEquals("7.0 24.0", first.restOfLine("[0] sum "));
                assertEquals("7.0 24.0", second.restOfLine("[1] sum "));
                assertTrue(Files.exists(secret), "the user's own secret was removed");
            }
        }
    }

    private static String[] twoNodes(String node, String master, Path secret) {
        String line = "run -n 1 --nodes 2 --node-rank " + node + " --master " + master + " --secret-file " + secret
                + " -cp " + classes + " Main";
        return line.split(" ");
    }

    @Test
    void anUnknownBackendIsReportedOnceWithEveryProvider() throws Exception {
        LauncherRun run = LauncherRun.start("run", "-n", "2", "--backend", "pigeon", source())
                .ends(2);
        assertEquals(1, run.errLines().size(), run::toString);
        assertTrue(
                run.errText()
                        .startsWith("ferro run: there is no back end named \"pigeon\" (-cp adds one of your own);"
                                + " usable here: tcp, shm, auto"),
                run::toString);
        // nccl is usable on some machines
        assertTrue(run.errText().contains("gloo-fallback") && run.errText().contains("nccl"), run::toString);
        assertTrue(run.errText().length() < 200, run::toString);
    }

    @Tag("long")
    @Test
    void aBackendThatOnlyTheProgramMayHaveIsSearchedByItsRanks() throws Exception {
        String path = printedClassPath() + File.pathSeparator + classes;
        LauncherRun run = LauncherRun.start(
                        "run", "-n", "1", "--backend", "pigeon", "--", Jvm.java(), "-cp", path, "Main")
                .ends(1);
        run.assertErr("no back end named -Dferro.backend=pigeon");
        run.assertErr("simulated (usable)");
    }

    private String source() throws IOException {
        return sourceIn(folder);
    }

    private static String sourceIn(Path folder) throws IOException {
        return Files.writeString(folder.resolve("Main.java"), MAIN).toString();
    }

    private static String printedClassPath() throws Exception {
        LauncherRun run = LauncherRun.start("classpath").ends(0);
        return run.outLines().get(0);
    }

    private static void compile(String path, Path folder) throws IOException {
        ConfigProgram.compile(path, sourceIn(folder), folder);
    }
}

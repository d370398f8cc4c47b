package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.JobStartException;
import ferro.launcher.input.Placement;
import ferro.launcher.input.RestartLimit;
import ferro.launcher.nodes.GenerationStart;
import ferro.launcher.output.Screen;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class NodeWaitLinesTest {
    @TempDir
    Path folder;

    @Test
    void nodeZeroWaitsForItsOwnStoreFirst() throws Exception {
        String line = firstLine(0);

        assertHas(line, "node 0 waits for an answer of its own store at 127.0.0.1:");
    }

    @Test
    void anotherNodeWaitsForNodeZero() throws Exception {
        String line = firstLine(1);

        assertHas(line, "waiting for node 0 of 2: ");
        // the user types what the line shows
        assertHas(line, " --secret-file " + folder.resolve("secret") + " -n 2 ... on that host");
    }

    @Test
    void aLauncherWithoutAnAnswerOfItsStoreReportsNoMissingNode() throws Exception {
        Path secret = secret();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"))) {
            Endpoint master = new Endpoint("127.0.0.1", silent.getLocalPort());
            Map<String, String> hasty = Map.of("FERRO_JOIN_TIMEOUT", "300ms");
            JobSpec spec = spec(0, master, secret, JobSpec.NODE_TIMEOUT);
            NodeRendezvous launcher = launcher(spec, hasty, OutputStream.nullOutputStream());

            NamedSecret key = new NamedSecret("job", secret);
            String text = message(JobStartException.class, () -> launcher.meet(key, 0, GenerationStart.ONLY, null));

            assertStarts(text, "the store that this launcher serves has not answered: ");
            assertTrue(text.endsWith("(ferro.join.timeout sets the time)"), text);
            assertLacks(text, "firewall");
        }
    }

    /** Before the first start, nobody at a loopback address is a wrong option. Here node 0 was there before. */
    @Test
    void inLaterGenerationsAMissingNodeZeroIsReportedWithTheTimeout() throws Exception {
        Path secret = secret();
        Endpoint master;
        try (ServerSocket free = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"))) {
            master = new Endpoint("127.0.0.1", free.getLocalPort());
        }
        JobSpec spec = spec(1, master, secret, Duration.ofMillis(300));
        NodeRendezvous launcher = launcher(spec, Map.of(), OutputStream.nullOutputStream());

        NamedSecret key = new NamedSecret("job", secret);
        GenerationStart later = new GenerationStart(1, true, Duration.ZERO);
        JobStartException missing = assertThrows(JobStartException.class, () -> launcher.meet(key, 0, later, null));

        assertEquals(1, missing.exitCode());
        String text = missing.getMessage();
        assertStarts(text, "node 0 of 2 is missing: ");
        assertTrue(text.endsWith("(--node-timeout sets the time)"), text);
    }

    private Path secret() throws IOException {
        Path secret = Files.createFile(
                folder.resolve("secret"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(secret, "0123456789abcdef0123456789abcdef");
    }

    /** Returns the first line while nobody answers at the address of the store. */
    private String firstLine(int node) throws Exception {
        Path secret = secret();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
                PipedInputStream printed = new PipedInputStream()) {
            Endpoint master = new Endpoint("127.0.0.1", silent.getLocalPort());
            PipedOutputStream printing = new PipedOutputStream(printed);
            NodeRendezvous launcher = launcher(spec(node, master, secret, JobSpec.NODE_TIMEOUT), Map.of(), printing);
            Thread waiting = new Thread(() -> await(launcher, secret, printing), "test-launcher");
            waiting.setDaemon(true);
            waiting.start();
            BufferedReader lines = new BufferedReader(new InputStreamReader(printed, StandardCharsets.UTF_8));
            try {
                String line = lines.readLine();
                assertNotNull(line, "the launcher ended without a line");
                return line;
            } finally {
                waiting.interrupt();
                waiting.join(TimeUnit.SECONDS.toMillis(20));
                assertEquals(Thread.State.TERMINATED, waiting.getState());
            }
        }
    }

    private static void await(NodeRendezvous launcher, Path secret, PipedOutputStream printing) {
        try (printing) {
            launcher.meet(new NamedSecret("job", secret), 0, GenerationStart.ONLY, null)
                    .close();
        } catch (Exception ended) {
            // the interrupt of the test, after the first line
        }
    }

    private static NodeRendezvous launcher(JobSpec spec, Map<String, String> environment, OutputStream out) {
        CommandContext world = new CommandContext(environment, new Screen(out, out), System.out, Optional.empty());
        Endpoint master = spec.master().orElseThrow();
        return NodeRendezvous.of(spec, (folder, few) -> List.of("true"), world, master);
    }

    private static JobSpec spec(int node, Endpoint master, Path secret, Duration nodeTimeout) {
        return new JobSpec(
                new Placement(2, 2, node),
                Optional.of(master),
                Optional.of(secret),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                true,
                Duration.ZERO,
                nodeTimeout,
                DebuggedRanks.NONE,
                RestartLimit.NONE);
    }
}

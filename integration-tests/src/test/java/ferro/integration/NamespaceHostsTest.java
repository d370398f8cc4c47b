package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two hosts made of network namespaces, joined by a wire, each with shared memory of its own: needs root and iproute2. */
@Timeout(120)
class NamespaceHostsTest {
    private static final String NAME = "ferro" + ProcessHandle.current().pid();
    private static final List<String> HOSTS = List.of(NAME + "a", NAME + "b");

    @TempDir
    private Path folder;

    @BeforeEach
    void makeHosts() throws Exception {
        boolean made = succeeds("ip netns add " + HOSTS.get(0)) && succeeds("ip netns add " + HOSTS.get(1));
        assumeTrue(made, "cannot make network namespaces here: needs root and iproute2");
        run("ip link add " + wire(0) + " netns " + HOSTS.get(0) + " type veth peer " + wire(1) + " netns "
                + HOSTS.get(1));
        for (int host = 0; host < 2; host++) {
            String inside = "ip -n " + HOSTS.get(host) + " ";
            run(inside + "address add 10.77.0." + (host + 1) + "/24 dev " + wire(host));
            run(inside + "link set " + wire(host) + " up");
            run(inside + "link set lo up");
        }
    }

    @AfterEach
    void removeHosts() throws Exception {
        for (String host : HOSTS) {
            succeeds("ip netns del " + host);
        }
    }

    @Test
    void twoRanksOnEachOfTwoHostsShareMemoryInsideAndUseSocketsBetween() throws Exception {
        Path secret = Files.createFile(
                folder.resolve("secret"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(secret, "0123456789abcdef0123456789abcdef");
        List<Process> running = new ArrayList<>();
        try {
            for (int host = 0; host < 2; host++) {
                running.add(start(host, secret));
            }
            for (int host = 0; host < 2; host++) {
                assertTrue(running.get(host).waitFor(60, TimeUnit.SECONDS), () -> "not done: " + printed());
                assertEquals(0, running.get(host).exitValue(), this::printed);
            }
        } finally {
            running.forEach(Process::destroyForcibly);
        }
        String text = printed();
        assertTrue(text.contains("ranks 0-1, 2-3 share memory"), text);
        assertTrue(text.contains("ranks 0-2, 0-3, 1-2, 1-3 do not share memory: hosts are"), text);
    }

    private Process start(int host, Path secret) throws IOException {
        String launcher = LauncherRun.java() + " -cp " + LauncherRun.classPath() + " ferro.launcher.FerroCommand run"
                + " --nodes 2 --node-rank " + host + " --master 10.77.0.1:29500 --secret-file " + secret
                + " -n 2 --backend tcp -cp " + LauncherRun.classPath() + " " + SpansHosts.class.getName();
        String line = "ip netns exec " + HOSTS.get(host) + " unshare -m sh -c 'mount -t tmpfs tmpfs /dev/shm && exec "
                + launcher + "'";
        return new ProcessBuilder("sh", "-c", "exec " + line)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("host" + host).toFile())
                .start();
    }

    private String printed() {
        StringBuilder text = new StringBuilder();
        for (int host = 0; host < 2; host++) {
            try {
                text.append(Files.readString(folder.resolve("host" + host)));
            } catch (IOException unreadable) {
                text.append(unreadable);
            }
        }
        return text.toString();
    }

    /** Names of interfaces have 15 characters at most. */
    private static String wire(int host) {
        return "fw" + ProcessHandle.current().pid() + "x" + host;
    }

    private static void run(String line) throws Exception {
        assertTrue(succeeds(line), line);
    }

    private static boolean succeeds(String line) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(line.split(" "))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException noSuchProgram) {
            return false;
        }
    }
}

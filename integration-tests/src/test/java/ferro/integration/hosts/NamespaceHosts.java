package ferro.integration.hosts;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.JavaLine;
import ferro.integration.LauncherRun;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Hosts made of namespaces and joined by a switch: each has a host name, a network, a /dev/shm and process numbers of its own.
 * Needs root, unshare, nsenter and iproute2; a test that asks for hosts is skipped with that reason where they cannot be made.
 *
 * <p>Nothing is left behind: a host lives as long as the first process in it, which ends with this object, or with the JVM of
 * the test, and takes all its processes and its interfaces along.
 */
public final class NamespaceHosts implements AutoCloseable {
    /** The first process of a host; it reads from us until we close or end, and the shell collects what is orphaned. */
    private static final String FIRST_PROCESS = "ip link set lo up && mount -t tmpfs tmpfs /dev/shm"
            + " && echo \"$1\" > /proc/sys/kernel/hostname && echo made && cat > /dev/null; :";

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Family family;
    private final List<Process> firsts = new ArrayList<>();
    private final List<Long> pids = new ArrayList<>();
    private final List<HostProcess> started = new ArrayList<>();

    /** Which addresses the hosts have; there are none of the other family beside loopback's. */
    public enum Family {
        IPV4("10.77.0.", "/24"),
        IPV6("fd77::", "/64 nodad");

        private final String network;
        private final String behind;

        Family(String network, String behind) {
            this.network = network;
            this.behind = behind;
        }
    }

    private NamespaceHosts(Family family) {
        this.family = family;
    }

    /**
     * Makes hosts named {@code host-a}, {@code host-b}, ... with addresses .1, .2, ...; skips the test where that is not
     * possible.
     */
    public static NamespaceHosts joined(int count, Family family) throws IOException, InterruptedException {
        NamespaceHosts hosts = new NamespaceHosts(family);
        try {
            assumeTrue(
                    hosts.makeHost("switch") && hosts.succeedsInside(0, "ip link add between type bridge"),
                    "cannot make hosts of namespaces here: needs root, unshare, nsenter and iproute2");
            hosts.runInside(0, "ip link set between up");
            for (int host = 0; host < count; host++) {
                assertTrue(hosts.makeHost(hosts.name(host)), "host " + host + " cannot be made");
                hosts.plugIn(host);
            }
            return hosts;
        } catch (Throwable failure) {
            hosts.close();
            throw failure;
        }
    }

    private boolean makeHost(String name) throws IOException {
        Process first;
        try {
            first = new ProcessBuilder(words(
                            "unshare --net --mount --uts --ipc --pid --fork --mount-proc --kill-child sh -c",
                            FIRST_PROCESS,
                            "first",
                            name))
                    .redirectError(Redirect.DISCARD)
                    .start();
        } catch (IOException noSuchProgram) {
            return false;
        }
        firsts.add(first);
        if (!"made".equals(firstLine(first))) {
            return false;
        }
        pids.add(first.children().findFirst().orElseThrow().pid());
        return true;
    }

    /** A process that prints nothing is ended after a while, which ends the wait for its line. */
    private static String firstLine(Process process) throws IOException {
        CompletableFuture<Void> late = CompletableFuture.runAsync(
                process::destroyForcibly,
                CompletableFuture.delayedExecutor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        try {
            return process.inputReader().readLine();
        } finally {
            late.cancel(false);
        }
    }

    private void plugIn(int host) throws IOException, InterruptedException {
        runInside(0, "ip link add " + port(host) + " type veth peer name wire netns " + pids.get(host + 1));
        runInside(0, "ip link set " + port(host) + " up");
        mend(host);
        String version = family == Family.IPV6 ? "ip -6" : "ip";
        run(host, version + " address add " + address(host) + family.behind + " dev wire");
        run(host, "ip link set wire up");
    }

    public String name(int host) {
        return "host-" + (char) ('a' + host);
    }

    /** Returns the one address of a host on the wire, without brackets. */
    public String address(int host) {
        return family.network + (host + 1);
    }

    /** Returns an address of a host with a port, as {@code --master} takes it. */
    public String endpoint(int host, int port) {
        return (family == Family.IPV6 ? "[" + address(host) + "]" : address(host)) + ":" + port;
    }

    public HostProcess ferro(int host, String... arguments) throws IOException {
        return ferro(host, Map.of(), arguments);
    }

    public HostProcess ferro(int host, Map<String, String> variables, String... arguments) throws IOException {
        List<String> line = JavaLine.launcher(LauncherRun.classPath());
        line.addAll(LauncherRun.forShortLives(arguments));
        return start(host, variables, line);
    }

    public HostProcess start(int host, String... command) throws IOException {
        return start(host, Map.of(), List.of(command));
    }

    private HostProcess start(int host, Map<String, String> variables, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(inside(host + 1, command));
        builder.environment().putAll(variables);
        HostProcess made = new HostProcess(builder);
        started.add(made);
        return made;
    }

    public void run(int host, String line) throws IOException, InterruptedException {
        runInside(host + 1, line);
    }

    /** Runs a command on a host to its end, and says whether it could be run and ended with 0. */
    public boolean succeeds(int host, String line) throws IOException, InterruptedException {
        return succeedsInside(host + 1, line);
    }

    /** Writes a setting of the kernel, by its path below {@code /proc/sys}, for one host. */
    public void set(int host, String setting, int value) throws IOException, InterruptedException {
        HostProcess written = start(host, "sh", "-c", "echo " + value + " > /proc/sys/" + setting);
        assertTrue(written.exitCode() == 0, () -> setting + "=" + value + ": " + written);
    }

    /**
     * Has no packet leave a host that is longer than its wire takes, for connections made from now on: between namespaces packets
     * travel joined, of up to 64 KiB. Returns whether that can be had here.
     */
    public boolean splitPackets() throws IOException, InterruptedException {
        boolean split = true;
        for (int host = 0; host < pids.size() - 1; host++) {
            split &= succeeds(host, "ip link set wire gso_max_segs 1");
        }
        return split;
    }

    /** Loses every frame from and to a host from now on; no end sees a cable pulled, and no connection ends. */
    public void cut(int host) throws IOException, InterruptedException {
        runInside(0, "ip link set " + port(host) + " nomaster");
    }

    public void mend(int host) throws IOException, InterruptedException {
        runInside(0, "ip link set " + port(host) + " master between");
    }

    /** Writes a secret that all hosts can read, as they share this machine's files. */
    public static Path secret(Path folder, String name, String content) throws IOException {
        Path file = Files.createFile(
                folder.resolve(name),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, content);
    }

    private void runInside(int place, String line) throws IOException, InterruptedException {
        assertTrue(succeedsInside(place, line), line);
    }

    private boolean succeedsInside(int place, String line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(inside(place, words(line)))
                .redirectErrorStream(true)
                .redirectOutput(Redirect.DISCARD)
                .start();
        return process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    /** Of the switch only the network is entered: who joins hosts by wires has to know their first processes by our numbers. */
    private List<String> inside(int place, List<String> command) {
        List<String> line = words(
                "nsenter --target " + pids.get(place) + (place == 0 ? " --net" : " --net --mount --uts --ipc --pid"));
        line.add("--wd=" + Path.of("").toAbsolutePath());
        line.add("--");
        line.addAll(command);
        return line;
    }

    private static List<String> words(String line, String... more) {
        List<String> words = new ArrayList<>(List.of(line.split(" ")));
        words.addAll(List.of(more));
        return words;
    }

    private static String port(int host) {
        return "port" + host;
    }

    /** Ends everything on all hosts, and the hosts. */
    @Override
    public void close() throws IOException {
        started.forEach(HostProcess::close);
        for (Process first : firsts) {
            first.getOutputStream().close();
            first.destroyForcibly();
        }
    }
}

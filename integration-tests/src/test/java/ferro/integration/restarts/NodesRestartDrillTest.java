package ferro.integration.restarts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Processes;
import ferro.integration.drill.Drill;
import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job of three hosts, made of namespaces, whose ranks and launchers are killed again and again, a random one at a
 * random moment; between the hosts is TLS. A launcher that was killed is started again, but not that of node 0, whose end ends
 * the job. {@code -Pdrill} makes 200 generations; {@code -Drestarts.seed} repeats the moments of a run.
 */
@Tag("long")
class NodesRestartDrillTest {
    private static final int NODES = 3;
    /** Ranks of each node: in CI one, because a host of tests has few cores. */
    private static final int RANKS_PER_NODE = Drill.whole() ? 2 : 1;

    private static final int FAULTS = Drill.whole() ? 200 : 4;
    private static final int PORT = 29700;
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final List<NodeLauncher> launchers = new ArrayList<>();
    private final List<Long> againMillis = new ArrayList<>();
    private int kills;
    private NamespaceHosts hosts;

    /** The launcher of a node, and how many generations it has started. */
    private final class NodeLauncher {
        private final int node;
        private HostProcess process;
        private int started;

        NodeLauncher(int node) throws IOException {
            this.node = node;
            start();
        }

        void start() throws IOException {
            started = 0;
            List<String> line = new ArrayList<>(List.of("run", "--nodes", "" + NODES, "--node-rank", "" + node));
            line.addAll(List.of("--master", hosts.endpoint(0, PORT), "--secret-file", folder.resolve("key") + ""));
            line.addAll(List.of("-n" + RANKS_PER_NODE, "--restarts", "1", "--restart-window", "100ms"));
            line.addAll(List.of("--node-timeout", "30s", "-J-Xmx64m"));
            line.addAll(List.of(SumsOfGenerations.class.getName(), end() + "", folder.resolve("saved") + ""));
            process = hosts.ferro(
                    node,
                    Map.of("TMPDIR", folder.resolve("temporary").toString(), "FERRO_TIMEOUT", "10s"),
                    line.toArray(String[]::new));
        }

        List<Long> next() {
            int index = started++;
            Processes.await(
                    () -> pidLines().size() > index, SOON, "node " + node + " starts no ranks any more: " + launchers);
            List<Long> pids = RestartDrillTest.pids(pidLines().get(index));
            assertEquals(RANKS_PER_NODE, pids.size(), this::toString);
            return pids;
        }

        private List<String> pidLines() {
            return process.errLines().stream()
                    .filter(line -> !RestartDrillTest.pids(line).isEmpty())
                    .toList();
        }

        void awaitSums(int generation) throws InterruptedException {
            for (int rank = node * RANKS_PER_NODE; rank < (node + 1) * RANKS_PER_NODE; rank++) {
                process.restOfLine("[" + rank + "] generation " + generation + " sums as pid ");
            }
        }

        @Override
        public String toString() {
            return "" + process;
        }
    }

    private Path end() {
        return folder.resolve("end");
    }

    @Test
    @DisplayName("row 52: random ranks and launchers of three nodes are killed at random moments")
    void faultsOfRandomRanksAndLaunchersEndInRightSumsAndLeaveNothing() throws Exception {
        long seed = Long.getLong("restarts.seed", System.nanoTime());
        System.out.println("restarts.seed=" + seed);
        NamespaceHosts.secret(folder, "key", "0123456789abcdef0123456789abcdef");
        Path temporary = Files.createDirectory(folder.resolve("temporary"));
        try (NamespaceHosts made = NamespaceHosts.joined(NODES, NamespaceHosts.Family.IPV4)) {
            hosts = made;
            for (int node = 0; node < NODES; node++) {
                launchers.add(new NodeLauncher(node));
            }
            long descriptors = faults(new Random(seed));
            awaitSums(FAULTS);
            long after = descriptors();
            assertTrue(
                    after <= descriptors + NODES * RANKS_PER_NODE,
                    after + " descriptors, " + descriptors + " in generation 1");
            assertTrue(
                    launchers.get(0).process.errText().contains("TLS on between " + NODES + " hosts"),
                    launchers::toString);
            Files.createFile(end());
            for (NodeLauncher launcher : launchers) {
                assertEquals(0, launcher.process.exitCode(), launchers::toString);
                assertFalse(launcher.process.outLines().toString().contains("wrong"), launchers::toString);
            }
            assertTrue(
                    launchers.get(0).process.outLines().contains("[0] done in generation " + FAULTS),
                    launchers::toString);
            for (int node = 0; node < NODES; node++) {
                assertNothingIsLeft(node);
            }
        }
        RestartDrillTest.print("on " + NODES + " nodes", againMillis);
        assertTrue(Files.exists(folder.resolve("saved")), "no rank has saved a checkpoint");
        List<Path> left = RestartDrillTest.inside(temporary);
        assertTrue(left.size() <= kills, () -> kills + " launchers were killed, and there are " + left);
        for (Path folder : left) {
            assertTrue(holdsOnlyRecordings(folder), () -> folder + " holds a file that is no recording");
        }
    }

    /**
     * A launcher that is killed leaves the folder for what its ranks record: nobody has been shown a failure report of it. It
     * is empty if the ranks, which end with their launcher, had recorded nothing, and has an unfinished file if one was writing.
     */
    private static boolean holdsOnlyRecordings(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return folder.getFileName().toString().startsWith("ferro-recordings-")
                    && files.filter(Files::isRegularFile)
                            .allMatch(file -> file.toString().contains(".json"));
        }
    }

    /** Makes a fault in each generation, and returns how many descriptors the launcher of node 0 had in generation 1. */
    private long faults(Random random) throws Exception {
        long descriptors = 0;
        boolean joined = true;
        long fault = 0;
        for (int generation = 0; generation < FAULTS; generation++) {
            List<List<Long>> pids = new ArrayList<>();
            for (NodeLauncher launcher : launchers) {
                pids.add(launcher.next());
            }
            // two generations without a join would end the job; descriptors are counted after a join
            joined = !joined || generation == 1 || random.nextBoolean();
            if (joined) {
                awaitSums(generation);
                if (generation > 0) {
                    againMillis.add((System.nanoTime() - fault) / 1_000_000);
                }
            }
            if (generation == 1) {
                descriptors = descriptors();
            }
            LockSupport.parkNanos(random.nextInt(RestartDrillTest.LATEST_MILLIS) * 1_000_000L);
            fault = System.nanoTime();
            fault(random, pids);
        }
        launchers.forEach(NodeLauncher::next);
        return descriptors;
    }

    private void fault(Random random, List<List<Long>> pids) throws Exception {
        int node = random.nextInt(NODES);
        if (node > 0 && random.nextInt(3) == 0) {
            launchers.get(node).process.kill();
            kills++;
            launchers.get(node).start();
        } else {
            hosts.run(node, "kill -9 " + pids.get(node).get(random.nextInt(RANKS_PER_NODE)));
        }
    }

    private void awaitSums(int generation) throws InterruptedException {
        for (NodeLauncher launcher : launchers) {
            launcher.awaitSums(generation);
        }
    }

    private long descriptors() throws IOException {
        return RestartDrillTest.descriptors(launchers.get(0).process);
    }

    private void assertNothingIsLeft(int node) throws Exception {
        HostProcess left = hosts.start(
                node,
                "sh",
                "-c",
                "ls -A /dev/shm; for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done | grep [j]ava");
        left.exitCode();
        assertEquals(List.of(), left.outLines(), () -> "on node " + node + ": " + left);
    }
}

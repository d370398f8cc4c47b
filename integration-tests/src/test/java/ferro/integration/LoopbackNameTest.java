package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The name of the first host, which its own hosts file gives a loopback address, as many distributions do. */
@Timeout(180)
class LoopbackNameTest {
    private static final String NEVER_REACHED = ", where no other host can reach it";
    private static final String TROUBLE = "this machine resolves node0 to 127.0.1.1" + NEVER_REACHED;
    private static final String INSTEAD = " 10.77.0.1 instead, which is an address of this machine";

    private static final String PROGRAM = JoinsByAuto.class.getName();

    @TempDir
    private static Path folder;

    @RegisterExtension
    static final TwoNodes nodes = new TwoNodes();

    @BeforeAll
    static void nameHosts() throws Exception {
        for (int host = 0; host < 2; host++) {
            nodes.hosts().run(host, "ip -6 address add fd77::" + (host + 1) + "/64 dev wire nodad");
        }
        Files.writeString(folder.resolve("hosts-0"), "127.0.1.1 node0\n::1 node0-six\n");
        Files.writeString(folder.resolve("hosts-1"), "10.77.0.1 node0\nfd77::1 node0-six\n127.0.1.1 node1\n");
    }

    @Test
    void ranksStartedByHandJoinAtTheAddressOfTheRoute() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "by-hand", "00112233445566778899aabbccddeeff");
        List<HostProcess> ranks = new ArrayList<>();
        ranks.add(rank(0, 0, "FERRO_SECRET_FILE=" + secret));
        ranks.add(rank(0, 1, "FERRO_SECRET_FILE=" + secret));
        ranks.add(rank(1, 2, "FERRO_SECRET_FILE=" + secret, "FERRO_TCP_BIND=node1"));

        assertJoined(ranks);
        assertEquals(0, lines(ranks.get(2), TROUBLE), ranks.get(2)::toString);
        assertEquals(1, lines(ranks.get(2), "the rank listens at 10.77.0.2 instead"), ranks.get(2)::toString);
    }

    @Test
    @Tag("long")
    void theLauncherOfNode0ServesItsStoreAtTheAddressOfTheRoute() throws Exception {
        TwoNodes.Job job = nodes.job().withMaster("node0:29700");
        List<HostProcess> launchers = new ArrayList<>();
        for (int node = 0; node < 2; node++) {
            Map<String, String> variables = Map.of("JAVA_TOOL_OPTIONS", hostsFile(node));
            launchers.add(job.node(node, variables, "-n1", "-cp", LauncherRun.classPath(), PROGRAM));
        }

        for (HostProcess one : launchers) {
            assertEquals(0, one.exitCode(), one::toString);
            assertTrue(one.outLines().toString().contains("view false product 30"), one::toString);
        }
        assertEquals(1, lines(launchers.get(0), TROUBLE), launchers.get(0)::toString);
        assertEquals(1, lines(launchers.get(0), INSTEAD), launchers.get(0)::toString);
        assertEquals(0, lines(launchers.get(1), TROUBLE), launchers.get(1)::toString);
    }

    @Tag("long")
    @Test
    void anIpv6LoopbackNameIsReplacedByAnIpv6Address() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "six", "ffeeddccbbaa99887766554433221100");
        List<HostProcess> ranks = new ArrayList<>();
        String[] variables = {
            "WORLD_SIZE=2", "MASTER_ADDR=node0-six", "MASTER_PORT=29800", "FERRO_SECRET_FILE=" + secret
        };
        for (int host = 0; host < 2; host++) {
            ranks.add(rank(host, host, variables));
        }

        for (HostProcess one : ranks) {
            assertEquals(0, one.exitCode(), one::toString);
            assertEquals(List.of("view false product 30"), one.outLines(), one::toString);
        }
        HostProcess first = ranks.get(0);
        assertEquals(1, lines(first, "this machine resolves node0-six to ::1" + NEVER_REACHED), first::toString);
        assertEquals(1, lines(first, " fd77::1 instead, which is an address of this machine"), first::toString);
    }

    @Test
    @Tag("long")
    void ranksWithOptionsJoinAtRankZeroFromBothHosts() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "options", "8899aabbccddeeff0011223344556677");
        List<String> env = List.of("env", "FERRO_SECRET_FILE=" + secret);
        List<HostProcess> ranks = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            ranks.add(started(rank / 2, env, PROGRAM, "" + rank, "3", "node0", "29900"));
        }

        assertJoined(ranks);
    }

    private static void assertJoined(List<HostProcess> ranks) throws InterruptedException {
        for (HostProcess one : ranks) {
            assertEquals(0, one.exitCode(), one::toString);
            assertEquals(List.of("view false product 210"), one.outLines(), one::toString);
        }
        for (HostProcess one : ranks.subList(0, 2)) {
            assertEquals(1, lines(one, TROUBLE), one::toString);
            assertEquals(1, lines(one, INSTEAD), one::toString);
        }
    }

    private static HostProcess rank(int host, int rank, String... variables) throws IOException {
        List<String> line = new ArrayList<>(List.of("env", "RANK=" + rank, "WORLD_SIZE=3"));
        line.addAll(List.of("MASTER_ADDR=node0", "MASTER_PORT=29600"));
        // the last value of a variable counts
        line.addAll(List.of(variables));
        return started(host, line, PROGRAM);
    }

    private static HostProcess started(int host, List<String> before, String... program) throws IOException {
        List<String> line = new ArrayList<>(before);
        line.addAll(JavaLine.rank(List.of("-Xmx128m", hostsFile(host), "-Dferro.join.timeout=40s"), program));
        return nodes.hosts().start(host, line.toArray(String[]::new));
    }

    private static String hostsFile(int host) {
        return "-Djdk.net.hosts.file=" + folder.resolve("hosts-" + host);
    }

    private static long lines(HostProcess one, String text) {
        return one.errLines().stream().filter(line -> line.contains(text)).count();
    }
}

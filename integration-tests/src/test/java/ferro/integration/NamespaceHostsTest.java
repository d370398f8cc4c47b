package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two hosts made of namespaces, joined by a wire, each with shared memory of its own: needs root and iproute2. */
@Timeout(120)
class NamespaceHostsTest {
    @TempDir
    private Path folder;

    @Test
    void twoRanksOnEachOfTwoHostsShareMemoryInsideAndUseSocketsBetween() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        // @start region="hosts"
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            List<HostProcess> running = new ArrayList<>();
            for (int host = 0; host < 2; host++) {
                String line = "run --nodes 2 --node-rank " + host + " --master " + hosts.endpoint(0, 29500)
                        + " --secret-file " + secret + " -n 2 --backend tcp "
                        + SpansHosts.class.getName();
                running.add(hosts.ferro(host, line.split(" ")));
            }
            StringBuilder text = new StringBuilder();
            for (HostProcess one : running) {
                assertEquals(0, one.exitCode(), one::toString);
                text.append(one);
            }
            String told = "ranks 0-1 (host host-a) and 2-3 (host host-b) over shared memory, between hosts over TCP";
            // @end
            assertTrue(text.toString().contains(told), text::toString);
            assertFalse(text.toString().contains("do not share"), text::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, IPV6, TCP with TLS between hosts, 'over TCP with TLS, ranks 0 (host host-a) and 1 (host host-b)'",
        "2, IPV4, 'TCP with TLS between hosts, shared memory within hosts', 'ranks 0-1 (host host-a) and 2-3 (host host-b) over'"
    })
    @Tag("long")
    void aBenchmarkOfTwoNodesMeasuresTheNetworkAndNamesTheMedium(int ranks, Family family, String medium, String data)
            throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, family)) {
            List<HostProcess> nodes = new ArrayList<>();
            for (int host = 0; host < 2; host++) {
                String line = "bench allreduce --nodes 2 --node-rank " + host + " --master " + hosts.endpoint(0, 29500)
                        + " --secret-file " + secret + " -n " + ranks + " --sizes 4,65536 --time 10ms --json";
                nodes.add(hosts.ferro(host, LauncherRun.FOR_SHORT_LIVES, line.split(" ")));
            }
            HostProcess.assertEnd(0, nodes);
            HostProcess first = nodes.get(0);
            assertEquals(2, first.outLines().size(), first::toString);
            for (String row : first.outLines()) {
                assertTrue(row.contains("\"medium\":\"" + medium + "\""), row);
                assertTrue(row.matches(".*\"wrong\":0,\"probe_us\":[0-9.]+}"), row);
            }
            assertEquals(List.of(), nodes.get(1).outLines());
            assertEquals(1, dataLines(first, data), first::toString);
            assertEquals(0, dataLines(nodes.get(1), "data: "), nodes.get(1)::toString);
        }
    }

    private static long dataLines(HostProcess node, String data) {
        return node.errLines().stream().filter(line -> line.contains(data)).count();
    }

    /** In the second case only the ranks announce link-local addresses; in the third one the job file has one, too. */
    @ParameterizedTest
    @CsvSource({
        "MASTER_ADDR=fe80::77:1%wire, MASTER_ADDR=fe80::77:1%cable, auto",
        "MASTER_ADDR=fd77::1, MASTER_ADDR=fd77::1, fe80::/10",
        "FERRO_JOB_ID=x, FERRO_JOB_ID=x, fe80::/10"
    })
    void ranksByHandJoinAtALinkLocalAddressDespiteOtherInterfaceNames(
            String storeForZero, String storeForOne, String network) throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV6)) {
            addLinkLocal(hosts);
            List<HostProcess> ranks = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                List<String> line = new ArrayList<>(List.of(
                        "env",
                        "RANK=" + rank,
                        "WORLD_SIZE=2",
                        "MASTER_PORT=29500",
                        rank == 0 ? storeForZero : storeForOne,
                        "FERRO_JOB_DIR=" + folder,
                        "FERRO_JOIN_TIMEOUT=30s",
                        "FERRO_SECRET_FILE=" + secret));
                if (!network.equals("auto")) {
                    line.add("FERRO_TCP_INTERFACE=" + network);
                }
                line.addAll(JavaLine.rank(List.of("-Xmx128m"), JoinsByAuto.class.getName()));
                ranks.add(hosts.start(rank, line.toArray(String[]::new)));
            }
            for (HostProcess rank : ranks) {
                assertEquals(0, rank.exitCode(), rank::toString);
                assertEquals(List.of("view false product 30"), rank.outLines(), rank::toString);
            }
        }
    }

    /** A launcher, and a rank that it starts, has only the interface of its own host, whatever the setting names. */
    @ParameterizedTest
    @ValueSource(strings = {"fe80::77:1%wire", "fe80::77:1"})
    void launchersJoinAtALinkLocalMasterDespiteOtherInterfaceNames(String master) throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV6)) {
            addLinkLocal(hosts);
            String line = "run --nodes 2 --master [" + master + "]:29500 --secret-file " + secret + " --node-rank ";
            String program = " -n 1 --backend tcp " + JoinsByAuto.class.getName();
            List<HostProcess> nodes = List.of(
                    hosts.ferro(0, (line + 0 + program).split(" ")), hosts.ferro(1, (line + 1 + program).split(" ")));
            for (HostProcess node : nodes) {
                assertEquals(0, node.exitCode(), node::toString);
                assertTrue(node.toString().contains("view false product 30"), node::toString);
            }
            hosts.run(1, "ip link add other type veth peer name another");
            hosts.run(1, "ip -6 address add fe80::5/64 dev other nodad");
            hosts.run(1, "ip link set other up");
            hosts.run(1, "ip link set another up");
            HostProcess lost = hosts.ferro(1, (line + 1 + program).split(" "));
            assertEquals(2, lost.exitCode(), lost::toString);
            assertTrue(
                    lost.toString().contains("ferro run: --master [" + master + "]:29500: the link-local address "),
                    lost::toString);
        }
    }

    private static void addLinkLocal(NamespaceHosts hosts) throws Exception {
        // an address that the kernel makes from the hardware address cannot be used in its first seconds
        hosts.run(0, "ip -6 address flush dev wire scope link");
        hosts.run(0, "ip -6 address add fe80::77:1/64 dev wire nodad");
        hosts.run(1, "ip link set wire down");
        hosts.run(1, "ip link set dev wire addrgenmode none");
        hosts.run(1, "ip link set wire name cable");
        hosts.run(1, "ip link set cable up");
        hosts.run(1, "ip -6 address add fe80::77:2/64 dev cable nodad");
        hosts.run(1, "ip -6 address add " + hosts.address(1) + "/64 dev cable nodad");
    }

    @Test
    void hostsReachEachOtherByTheirAddressUnlessCutOff() throws Exception {
        for (Family family : Family.values()) {
            try (NamespaceHosts hosts = NamespaceHosts.joined(2, family)) {
                HostProcess named = hosts.start(1, "cat", "/proc/sys/kernel/hostname");
                assertEquals("host-b", named.restOfLine(""));
                String knock = " bash -c echo>/dev/tcp/" + hosts.address(1) + "/29500";

                // refused is an answer, silence is not: timeout then ends with another code
                assertEquals(1, knocked(hosts, "timeout 10" + knock));
                hosts.cut(1);
                assertEquals(124, knocked(hosts, "timeout 0.3" + knock));
                hosts.mend(1);
                assertEquals(1, knocked(hosts, "timeout 10" + knock));

                assertFalse(hosts.succeeds(1, "ip -4 route get 1.1.1.1"), "a host must reach nothing else");
            }
        }
    }

    private static int knocked(NamespaceHosts hosts, String line) throws Exception {
        return hosts.start(0, line.split(" ")).exitCode();
    }
}

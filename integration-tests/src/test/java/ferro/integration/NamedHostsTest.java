package ferro.integration;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Child;
import ferro.harness.Ports;
import ferro.integration.hosts.NamespaceHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that are started by hand and meet at a host name; each has a hosts file of its own. */
@Timeout(120)
class NamedHostsTest {
    private static final String PRODUCT = "view false product 30";

    @TempDir
    Path folder;

    @Test
    void aHostNameWithDeadFirstAddressesLeadsToRankZero() throws Exception {
        Map<String, String> meeting = Map.of("MASTER_ADDR", "node0", "MASTER_PORT", "" + Ports.free());

        assertPrint(
                PRODUCT,
                start(0, meeting, List.of("127.0.0.1 node0"), byAuto()),
                start(1, meeting, List.of("::1 node0", "127.0.0.9 node0", "127.0.0.1 node0"), byAuto()));
    }

    /** Rank 0 sees the address of a service, which no interface of its machine has; the test stands for the service. */
    @Test
    void aServiceAddressIsRefusedWithTheSettingThatWorks() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        Map<String, String> variables =
                Map.of("MASTER_ADDR", "node0", "MASTER_PORT", "" + Ports.free(), "FERRO_SECRET_FILE", "" + secret);
        List<String> service = List.of("192.0.2.7 node0");

        Child refused = start(0, variables, service, byAuto());
        refused.exitCode();
        String text = refused.errText();
        assertSays(text, "the address does not belong to this machine", "ferro.tcp.bind=0.0.0.0");

        Map<String, String> open = new HashMap<>(variables);
        open.put("FERRO_TCP_BIND", "0.0.0.0");
        open.put("FERRO_TCP_ADVERTISE", "127.0.0.1");
        assertPrint(
                PRODUCT, start(0, open, service, byAuto()), start(1, variables, List.of("127.0.0.1 node0"), byAuto()));
    }

    @Tag("long")
    @Test
    void withoutASecretRanksStayOnLoopbackAndReportIt() throws Exception {
        Map<String, String> meeting = Map.of("MASTER_ADDR", "node0", "MASTER_PORT", "" + Ports.free());
        List<String> hosts = List.of("127.0.1.1 node0");

        Child[] ranks = {start(0, meeting, hosts, byAuto()), start(1, meeting, hosts, byAuto())};
        assertPrint(PRODUCT, ranks);

        for (int rank = 0; rank < 2; rank++) {
            String line =
                    "rank " + rank + " of \"world\": this machine resolves node0 to 127.0.1.1, where no other host"
                            + " can reach it (often by a line in /etc/hosts); only ranks of this machine can join, because";
            String said = ranks[rank].errText();
            assertSays(said, line, "give all ranks the same FERRO_SECRET_FILE");
        }
    }

    @ParameterizedTest
    @Tag("long")
    @ValueSource(strings = {"MASTER_ADDR", "FERRO_RENDEZVOUS", "JoinOptions"})
    void aHostNameWithAnUnderscoreIsAccepted(String from) throws Exception {
        String host = "host_with_underscore";
        String port = "" + Ports.free();
        Map<String, String> meeting = switch (from) {
            case "MASTER_ADDR" -> Map.of(from, host, "MASTER_PORT", port);
            case "FERRO_RENDEZVOUS" -> Map.of(from, "tcp://" + host + ":" + port);
            default -> Map.of();
        };
        Child[] ranks = new Child[2];
        for (int rank = 0; rank < 2; rank++) {
            String[] byOptions = {JoinsByAuto.class.getName(), "" + rank, "2", host, port};
            ranks[rank] = start(rank, meeting, List.of("127.0.0.1 " + host), meeting.isEmpty() ? byOptions : byAuto());
        }
        assertPrint(PRODUCT, ranks);
    }

    private static String[] byAuto() {
        return new String[] {JoinsByAuto.class.getName()};
    }

    private static void assertPrint(String wanted, Child... ranks) throws Exception {
        try {
            for (Child rank : ranks) {
                rank.exitCode();
                assertEquals(List.of(wanted), rank.outLines(), rank::toString);
            }
        } finally {
            List.of(ranks).forEach(Child::close);
        }
    }

    private Child start(int rank, Map<String, String> variables, List<String> hosts, String[] program)
            throws IOException {
        Path file = Files.write(folder.resolve("hosts-" + rank), hosts);
        List<String> options = List.of("-Xmx128m", "-Djdk.net.hosts.file=" + file, "-Dferro.join.timeout=20s");
        Map<String, String> all = new HashMap<>(Map.of("RANK", "" + rank, "WORLD_SIZE", "2"));
        all.putAll(variables);
        return Child.apart(all, JavaLine.rank(options, program));
    }
}

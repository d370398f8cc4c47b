package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("long")
@Timeout(120)
class ThreeNodesTest {
    private static final int NODES = 3;

    @TempDir
    private Path folder;

    @Test
    @DisplayName("row 51: of three nodes the one that is cut off is to blame")
    void aNodeThatIsCutOffIsBlamedAndNotTheRanksThatItStopped() throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(NODES, NamespaceHosts.Family.IPV4)) {
            List<HostProcess> nodes = adding(hosts);

            hosts.cut(2);

            HostProcess.assertEnd(1, nodes);
            for (int node = 0; node < 2; node++) {
                String box = LauncherRun.box(nodes.get(node));
                assertTrue(box.contains("| ferro: node 2 is lost: "), box);
                assertBlamesNoneOf("0123", box);
            }
            assertEquals(LauncherRun.box(nodes.get(0)), LauncherRun.box(nodes.get(1)));
            String cutOff = LauncherRun.box(nodes.get(2));
            assertTrue(cutOff.contains("| ferro: node 0 is lost: "), cutOff);
            assertBlamesNoneOf("45", cutOff);
        }
    }

    private static void assertBlamesNoneOf(String ranks, String box) {
        assertFalse(
                box.replaceAll("\n\\|\\s+", " ")
                        .matches("(?s).*ranks? [0-9, ]*[" + ranks + "][0-9, ]* (is|are) to blame.*"),
                box);
    }

    private List<HostProcess> adding(NamespaceHosts hosts) throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        List<HostProcess> nodes = new ArrayList<>();
        for (int node = 0; node < NODES; node++) {
            List<String> line = new ArrayList<>(List.of("run", "--nodes", "" + NODES, "--node-rank", "" + node));
            line.addAll(List.of("--master", hosts.endpoint(0, 29500), "--secret-file", secret.toString()));
            line.addAll(List.of("-n2", "--node-timeout", "4s", "-cp", LauncherRun.classPath()));
            line.addAll(List.of(FailsInOneRank.class.getName(), "behaves", "PT60S"));
            nodes.add(hosts.ferro(node, line.toArray(String[]::new)));
        }
        nodes.get(2).restOfLine("[5] going");
        return nodes;
    }
}

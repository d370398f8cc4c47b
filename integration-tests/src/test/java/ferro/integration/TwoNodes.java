package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Two hosts made of namespaces, on which jobs run one behind the other or at once: every job has a port of its own. */
final class TwoNodes implements AutoCloseable {
    static final String NODE_0 = "node 0 (host host-a, 10.77.0.1)";
    static final String NODE_1 = "node 1 (host host-b, 10.77.0.2)";

    private static final int FIRST_PORT = 29500;

    private final NamespaceHosts hosts;
    private final Path secret;
    private int jobs;

    private TwoNodes(NamespaceHosts hosts, Path secret) {
        this.hosts = hosts;
        this.secret = secret;
    }

    /** Makes the hosts, and a secret in a folder that both see; skips the test where that is not possible. */
    static TwoNodes joined(Path folder, Family family) throws IOException, InterruptedException {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        return new TwoNodes(NamespaceHosts.joined(2, family), secret);
    }

    NamespaceHosts hosts() {
        return hosts;
    }

    Job job() {
        return new Job(hosts, secret, hosts.endpoint(0, FIRST_PORT + jobs++), 2);
    }

    /** Starts the launchers of a job of its own. */
    List<HostProcess> start(String... words) throws IOException {
        return job().start(words);
    }

    /** What the launchers of one job are told; each may be told something else. */
    record Job(NamespaceHosts hosts, Path secret, String master, int nodes) {
        Job withSecret(Path another) {
            return new Job(hosts, another, master, nodes);
        }

        Job withMaster(String another) {
            return new Job(hosts, secret, another, nodes);
        }

        Job withNodes(int another) {
            return new Job(hosts, secret, master, another);
        }

        List<HostProcess> start(String... words) throws IOException {
            List<HostProcess> started = new ArrayList<>();
            for (int node = 0; node < 2; node++) {
                started.add(node(node, words));
            }
            return started;
        }

        HostProcess node(int node, String... words) throws IOException {
            return node(node, Map.of(), words);
        }

        HostProcess node(int node, Map<String, String> variables, String... words) throws IOException {
            List<String> line = new ArrayList<>(List.of("run", "--nodes", "" + nodes, "--node-rank", "" + node));
            line.addAll(List.of("--master", master, "--secret-file", secret.toString()));
            line.addAll(List.of(words));
            return hosts.ferro(node, variables, line.toArray(String[]::new));
        }
    }

    /** Returns the last thing that a launcher has printed. */
    static String box(HostProcess one) {
        List<String> lines = one.errLines();
        String rule = lines.get(lines.size() - 1);
        assertTrue(rule.startsWith("+-----"), one::toString);
        return String.join("\n", lines.subList(lines.indexOf(rule), lines.size()));
    }

    /** Returns a process number as it is inside the host of a rank. */
    static String pid(HostProcess one, int rank) throws InterruptedException {
        return one.errLine("rank " + rank + " = pid ").replaceAll(".*rank " + rank + " = pid (\\d+).*", "$1");
    }

    @Override
    public void close() throws IOException {
        hosts.close();
    }
}

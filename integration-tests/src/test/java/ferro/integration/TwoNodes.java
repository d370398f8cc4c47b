package ferro.integration;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Two hosts made of namespaces, on which jobs run one behind the other or at once: every job has a port of its own. */
public final class TwoNodes implements BeforeAllCallback, AfterAllCallback, AutoCloseable {
    static final String NODE_0 = "node 0 (host host-a, 10.77.0.1)";
    static final String NODE_1 = "node 1 (host host-b, 10.77.0.2)";

    private static final int FIRST_PORT = 29500;

    private NamespaceHosts hosts;
    private Path secret;
    private int jobs;

    /** Makes the hosts before the first test of a class; skips its tests where that is not possible. */
    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        make(Files.createTempDirectory("ferro-nodes-"), Family.IPV4);
    }

    private TwoNodes make(Path folder, Family family) throws IOException, InterruptedException {
        secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        hosts = NamespaceHosts.joined(2, family);
        return this;
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        if (hosts != null) {
            close();
        }
        Files.delete(secret);
        Files.delete(secret.getParent());
    }

    /** Makes the hosts, and a secret in a folder that both see; skips the test where that is not possible. */
    static TwoNodes joined(Path folder, Family family) throws IOException, InterruptedException {
        return new TwoNodes().make(folder, family);
    }

    public NamespaceHosts hosts() {
        return hosts;
    }

    public Job job() {
        return new Job(hosts, secret, hosts.endpoint(0, FIRST_PORT + jobs++), 2);
    }

    List<HostProcess> start(String... words) throws IOException {
        return job().start(words);
    }

    /** What the launchers of one job are told; each may be told something else. */
    public record Job(NamespaceHosts hosts, Path secret, String master, int nodes) {
        Job withSecret(Path another) {
            return new Job(hosts, another, master, nodes);
        }

        public Job withMaster(String another) {
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

        public HostProcess node(int node, Map<String, String> variables, String... words) throws IOException {
            List<String> line = new ArrayList<>(List.of("run", "--nodes", "" + nodes, "--node-rank", "" + node));
            line.addAll(List.of("--master", master, "--secret-file", secret.toString()));
            line.addAll(List.of(words));
            return hosts.ferro(node, variables, line.toArray(String[]::new));
        }
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

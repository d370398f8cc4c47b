package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Child;
import ferro.harness.Jvm;
import ferro.harness.Ports;
import ferro.integration.hosts.NamespaceHosts;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The two ranks of a job over TCP, which the test starts without a launcher and with a class path of its own. */
final class ProgramRanks implements AutoCloseable {
    private final String path;
    private final Map<String, String> variables = new HashMap<>();
    private final List<Child> ranks = new ArrayList<>();

    ProgramRanks(Path folder, List<Path> path, String tls) throws IOException {
        this.path = path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        variables.put("FERRO_SECRET_FILE", "" + NamespaceHosts.secret(folder, "secret", "c0ffee".repeat(10)));
        variables.put("FERRO_TLS", tls);
        variables.put("FERRO_LINKS", "tcp");
        variables.put("WORLD_SIZE", "2");
        variables.put("MASTER_ADDR", "127.0.0.1");
        variables.put("MASTER_PORT", "" + Ports.free());
    }

    void start(String program, String... options) throws IOException {
        startBy(Jvm.java(), program, options);
    }

    /** Starts the next rank by the JVM of an image. */
    void startBy(String java, String program, String... options) throws IOException {
        List<String> line = JavaLine.shortLived();
        line.set(0, java);
        line.addAll(List.of(options));
        line.addAll(List.of("-cp", path, program));
        variables.put("RANK", "" + ranks.size());
        ranks.add(Child.apart(variables, line));
    }

    String result(int rank) throws Exception {
        String said = printed(rank, 0);
        List<String> lines =
                said.lines().filter(line -> line.startsWith("product ")).toList();
        assertEquals(1, lines.size(), said);
        return lines.get(0);
    }

    String printed(int rank, int exitCode) throws Exception {
        return ranks.get(rank).ended(exitCode);
    }

    @Override
    public void close() {
        ranks.forEach(Child::close);
    }
}

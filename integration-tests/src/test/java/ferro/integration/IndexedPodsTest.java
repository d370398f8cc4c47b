package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two hosts as pods of an Indexed Job: names and variables are Kubernetes' and those of docs/launchers/indexed-job.yaml. */
@Tag("long")
@Timeout(120)
class IndexedPodsTest {
    @TempDir
    private Path folder;

    @Test
    void podsFindTheFirstPodByTheNameOfItsService() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            Path names = folder.resolve("hosts");
            Files.writeString(names, "127.0.0.1 localhost\n" + line(hosts, 0) + line(hosts, 1));
            List<HostProcess> running = new ArrayList<>();
            for (int index = 1; index >= 0; index--) {
                HostProcess named = hosts.start(
                        index,
                        "sh",
                        "-c",
                        "mount --bind " + names + " /etc/hosts && echo train-" + index + " >/proc/sys/kernel/hostname");
                assertEquals(0, named.exitCode(), named::toString);
                String line = "env JOB_COMPLETION_INDEX=" + index + " FERRO_WORLD_SIZE=2 FERRO_TCP_PORT=29600"
                        + " FERRO_SECRET_FILE=" + secret + " "
                        + String.join(" ", JavaLine.rank(List.of(), SpansHosts.class.getName()));
                running.add(hosts.start(index, line.split(" ")));
            }
            StringBuilder said = new StringBuilder();
            for (HostProcess one : running) {
                assertEquals(0, one.exitCode(), running::toString);
                said.append(one);
            }
            assertTrue(
                    said.toString().contains("job of the Indexed Job: rank 1 of 2, 0 of 1 on this host"),
                    said::toString);
            assertTrue(said.toString().contains("rank 0 of 2"), said::toString);
        }
    }

    /** As a kubelet and the cluster's names together would tell it. */
    private static String line(NamespaceHosts hosts, int index) {
        String name = "train-" + index;
        return hosts.address(index) + " " + name + ".train.default.svc.cluster.local " + name + ".train " + name + "\n";
    }
}

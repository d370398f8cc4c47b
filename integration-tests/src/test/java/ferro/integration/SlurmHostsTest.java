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
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two hosts, on each of which a rank has the variables that srun sets, of nodes whose names nobody here can look up. */
@Tag("long")
@Timeout(120)
class SlurmHostsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void ranksOfASlurmStepOnTwoHostsJoinByASharedJobFile(Family family) throws Exception {
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, family)) {
            String network = "";
            if (family == Family.IPV6) {
                // two addresses and no default route: the setting says which is meant
                hosts.run(0, "ip -6 address add fd78::1/64 nodad dev wire");
                network = " FERRO_TCP_INTERFACE=fd77::/64";
            }
            List<HostProcess> running = new ArrayList<>();
            for (int rank = 1; rank >= 0; rank--) {
                String variables =
                        "env FERRO_JOB_DIR=" + folder + " SLURM_JOB_ID=7 SLURM_STEP_ID=3 SLURM_PROCID=" + rank
                                + " SLURM_STEP_NUM_TASKS=2 SLURM_NODEID=" + rank + " SLURM_LOCALID=0"
                                + " SLURM_STEP_TASKS_PER_NODE=1(x2) SLURM_STEP_NODELIST=none[1-2].invalid FERRO_TIMEOUT=20s"
                                + " FERRO_JOIN_TIMEOUT=40s" + network + " ";
                String line = variables + String.join(" ", JavaLine.rank(List.of(), SpansHosts.class.getName()));
                running.add(hosts.start(rank, line.split(" ")));
            }
            HostProcess.assertEnd(0, running);
            String first = running.get(1).errText();
            assertTrue(first.contains("job of Slurm: rank 0 of 2, 0 of 1 on this host"), first);
            assertTrue(first.contains("ranks find each other through the job file " + folder.resolve("7.3.0")), first);
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }
}

package ferro.integration;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import ferro.integration.hosts.NamespaceHosts.Family;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two hosts as the nodes of a step: only the variables are Slurm's, nothing else is set or typed but the secret. */
@Tag("long")
@Timeout(120)
class SlurmTaskTest {
    @TempDir
    private Path folder;

    @Test
    void launchersOnTheNodesOfASlurmStepFindEachOther() throws Exception {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        try (NamespaceHosts hosts = NamespaceHosts.joined(2, Family.IPV4)) {
            String ferro = String.join(" ", JavaLine.launcher(LauncherRun.classPath()))
                    + " run -J-XX:TieredStopAtLevel=1 -n 2 --backend tcp -cp " + LauncherRun.classPath() + " "
                    + SpansHosts.class.getName();

            String said = ended(hosts, secret, ferro);

            assertSays(
                    said,
                    "Slurm step 4711.0.0 (job.step.restart): node 1 of 2, the store is at " + hosts.address(0)
                            + ":24711",
                    "ranks 0-1 (host host-a) and 2-3 (host host-b) over shared memory");
        }
    }

    /** Runs a command as the task of each node; returns what all have said. */
    private static String ended(NamespaceHosts hosts, Path secret, String command)
            throws IOException, InterruptedException {
        List<HostProcess> running = new ArrayList<>();
        for (int node = 0; node < 2; node++) {
            String line = "env SLURM_JOB_ID=4711 SLURM_STEP_ID=0 SLURM_JOB_NUM_NODES=2 SLURM_STEP_NUM_NODES=2"
                    + " SLURM_STEP_NODELIST=" + hosts.address(0) + "," + hosts.address(1)
                    + " SLURM_STEP_NUM_TASKS=2 SLURM_STEP_TASKS_PER_NODE=1(x2)"
                    + " SLURM_PROCID=" + node + " SLURM_LOCALID=0 SLURM_NODEID=" + node
                    + " FERRO_SECRET_FILE=" + secret + " " + command;
            running.add(hosts.start(node, line.split(" ")));
        }
        StringBuilder said = new StringBuilder();
        for (HostProcess one : running) {
            assertEquals(0, one.exitCode(), one::toString);
            said.append(one);
        }
        return said.toString();
    }
}

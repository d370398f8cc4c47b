package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.group.Groups;
import ferro.group.SystemContext;
import ferro.harness.HeardLog;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Which launcher a rank believes is said when it joins. */
@ResourceLock("ferro.join")
class JobLineTest {
    private static final GroupSpec ALONE = GroupSpec.of("world", 0, 1, Duration.ofSeconds(20));

    @AutoClose
    final HeardLog heard = new HeardLog("ferro.join", HeardLog.only(Level.INFO));

    @Test
    void onlyARankOfAClusterLauncherLogsItsLauncherOnce() {
        Map<String, String> step = Map.of(
                "ferro.backend", "simulated", "SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1", "SLURM_JOB_ID", "4711");
        try (SystemContext context = SystemContext.of(step)) {
            Groups.join(ALONE, context).close();
            Groups.join(ALONE, context).close();
        }
        try (SystemContext context =
                SystemContext.of(Map.of("ferro.backend", "simulated", "RANK", "0", "WORLD_SIZE", "1"))) {
            Groups.join(ALONE, context).close();
        }

        assertEquals(List.of("job of Slurm: rank 0 of 1"), heard.texts());
    }
}

package ferro.launcher;

import ferro.launcher.input.DebuggedRanks;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.input.Placement;
import ferro.launcher.input.Restarts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** Jobs of which a test says only where they are. */
final class JobSpecs {
    private JobSpecs() {}

    static JobSpec of(Placement placement, Endpoint master, Path secret, Duration nodeTimeout, Restarts restarts) {
        return new JobSpec(
                placement,
                Optional.ofNullable(master),
                Optional.ofNullable(secret),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                true,
                Duration.ofSeconds(3),
                nodeTimeout,
                DebuggedRanks.NONE,
                restarts);
    }
}

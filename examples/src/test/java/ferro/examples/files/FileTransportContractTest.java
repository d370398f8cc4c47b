package ferro.examples.files;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.Backend;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.tck.BackendContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * The full contract over mapped files, without refusals. Groups of more than four ranks also pass, but they are left
 * out because they take several seconds of processor time.
 */
@Tag("long")
class FileTransportContractTest extends BackendContract {
    private static final int MAX_RANKS = 4;

    @TempDir
    static Path jobs;

    /** The engine is that of all transports; TcpBackendContractTest and SimulatedBackendContractTest run all calls on it. */
    @Override
    public boolean runsSelection() {
        return true;
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return createGroup(Collections.nCopies(worldSize, Map.of())).orElseThrow();
    }

    @Override
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        assumeTrue(settingsByRank.size() <= MAX_RANKS, "groups of more than " + MAX_RANKS + " ranks are left out");
        List<Backend> ranks = new ArrayList<>();
        try {
            Path folder = Files.createTempDirectory(jobs, "job");
            int worldSize = settingsByRank.size();
            for (Map<String, String> settings : settingsByRank) {
                GroupSpec spec = GroupSpec.of("world", ranks.size(), worldSize, Duration.ofSeconds(60));
                ranks.add(FileTransport.join(folder, spec, SystemContext.of(settings)));
            }
        } catch (IOException unable) {
            throw new AssertionError("cannot make a folder under " + jobs, unable);
        }
        return Optional.of(ranks);
    }
}

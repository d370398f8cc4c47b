package ferro.integration;

import ferro.Backend;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import ferro.tck.BackendContract;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The shared contract over back end shm: ranks of this JVM, each joining and mapping as a process of its own would. A few rules,
 * all with {@code -Pdrill}.
 */
class ShmBackendContractTest extends BackendContract {
    private Ranks ranks;

    /** Returns whether the medium shows most in a rule. Its every part has tests of its own. */
    @Override
    protected boolean runs(int rule) {
        return ON_ANOTHER_MEDIUM.contains(rule) || System.getProperty("drill.rounds") != null;
    }

    @BeforeEach
    void openRanks() {
        // eight ranks need more than the 64 MiB that a container has in /dev/shm
        ranks = new Ranks(Map.of("ferro.backend", "shm", "ferro.shm.dir", System.getProperty("java.io.tmpdir")));
    }

    @AfterEach
    void closeRanks() {
        ranks.close();
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return join(Collections.nCopies(worldSize, Map.of()));
    }

    @Override
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        return Optional.of(join(settingsByRank));
    }

    private List<? extends Backend> join(List<Map<String, String>> settingsByRank) {
        return ranks.joined(Duration.ofSeconds(60), settingsByRank).stream()
                .map(ProcessGroup::backend)
                .toList();
    }
}

package ferro.backend.tcp;

import ferro.Backend;
import ferro.group.ProcessGroup;
import ferro.tck.BackendContract;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;

/** The shared contract over sockets of the loopback interface: every rank joins as a process of its own would. */
abstract class TcpContract extends BackendContract {
    private final Map<String, String> settings;
    private final Deque<TcpJob> jobs = new ArrayDeque<>();

    TcpContract(Map<String, String> settings) {
        this.settings = settings;
    }

    /** Returns whether a suite over another kind of connection runs a rule; {@code -Ddrill.rounds=1} runs all. */
    static boolean isSelected(int rule) {
        return ON_ANOTHER_MEDIUM.contains(rule) || System.getProperty("drill.rounds") != null;
    }

    /** TcpBackendContractTest and SimulatedBackendContractTest run all calls on the same engine. */
    @Override
    public boolean runsSelection() {
        return true;
    }

    @Override
    public int segmentBytes() {
        return Integer.parseInt(settings.getOrDefault("ferro.segment", "524288"));
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
        TcpJob job = new TcpJob(settingsByRank.size(), Duration.ofSeconds(60), settings);
        jobs.push(job);
        return job.joinAll("world", settingsByRank).stream()
                .map(ProcessGroup::backend)
                .toList();
    }

    @AfterEach
    void closeJobs() {
        while (!jobs.isEmpty()) {
            jobs.pop().close();
        }
    }
}

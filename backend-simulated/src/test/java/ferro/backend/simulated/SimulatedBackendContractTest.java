package ferro.backend.simulated;

import ferro.Backend;
import ferro.spi.Settings;
import ferro.tck.BackendContract;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/**
 * The shared contract, over memory that all ranks share, and for some world sizes over channels between them. In groups of
 * more than four ranks each rank sends a failure only to its neighbours.
 */
@Tag("long")
class SimulatedBackendContractTest extends BackendContract {
    private static final Set<Integer> OVER_LINKS = Set.of(3, 8);

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return createGroup(Collections.nCopies(worldSize, Map.of())).orElseThrow();
    }

    @Override
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        String links = OVER_LINKS.contains(settingsByRank.size()) ? "tcp" : "auto";
        List<Map<String, String>> all = settingsByRank.stream()
                .map(settings -> {
                    Map<String, String> more = new HashMap<>(settings);
                    more.put(Settings.LINKS.name(), links);
                    return Map.copyOf(more);
                })
                .toList();
        return Optional.of(SimulatedBackend.createGroup(all));
    }
}

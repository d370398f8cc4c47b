package ferro.backend.simulated;

import ferro.Backend;
import ferro.tck.BackendContract;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The shared contract, over channels in memory. */
class SimulatedBackendContractTest extends BackendContract {
    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return SimulatedBackend.createGroup(worldSize);
    }

    @Override
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        return Optional.of(SimulatedBackend.createGroup(settingsByRank));
    }
}

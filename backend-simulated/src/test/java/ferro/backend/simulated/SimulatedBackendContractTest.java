package ferro.backend.simulated;

import ferro.Backend;
import ferro.tck.BackendContract;
import java.util.List;

/** The shared contract, over channels in memory. */
class SimulatedBackendContractTest extends BackendContract {
    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return SimulatedBackend.createGroup(worldSize);
    }
}

package ferro.backend.gloofallback;

import ferro.Backend;
import ferro.backend.simulated.SimulatedBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The round trip over simulated ranks. */
@Tag("long")
class SimulatedRoundTripContractTest extends RoundTripContract {
    SimulatedRoundTripContractTest() {
        super("2KiB");
    }

    /** All other rules have host tensors, and {@link HostRoundTripContractTest} runs them. */
    @Override
    protected boolean runs(int rule) {
        return ON_DEVICES.contains(rule);
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        List<Backend> ranks = new ArrayList<>();
        for (SimulatedBackend host : SimulatedBackend.createGroup(worldSize)) {
            ranks.add(new RoundTripBackend(host, context(Map.of())));
        }
        return ranks;
    }
}

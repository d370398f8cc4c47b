package ferro.backend.nccl.comm;

import ferro.Backend;
import ferro.backend.nccl.device.NcclAvailability;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/**
 * Provides the back end {@code -Dferro.backend=nccl}, with one process per device. The back end {@code auto} uses nccl
 * only together with a host back end.
 */
public final class NcclBackendProvider implements BackendProvider {
    /** Creates the provider for the service loader, without loading NCCL. */
    public NcclBackendProvider() {}

    @Override
    public String name() {
        return "nccl";
    }

    @Override
    public int priority() {
        return -1;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        Optional<String> none = NcclAvailability.noGpuBecause(context);
        if (none.isPresent()) {
            return none;
        }
        NcclAvailability found = NcclAvailability.look(context);
        return found.unavailableBecause().or(() -> DeviceSelector.unavailableBecause(context, found.devices()));
    }

    @Override
    public Optional<String> deviceKind() {
        return Optional.of("cuda");
    }

    @Override
    public Backend create(GroupSpec group, RankContext context) {
        return NcclWorld.join(group, context);
    }
}

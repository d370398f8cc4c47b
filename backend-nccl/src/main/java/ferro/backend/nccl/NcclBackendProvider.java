package ferro.backend.nccl;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/** Lets {@code -Dferro.backend=nccl} join: one process per device. Never chosen alone by {@code auto}. */
public final class NcclBackendProvider implements BackendProvider {
    /** For the service loader; loads nothing. */
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
        return NcclAvailability.unavailableBecause(context);
    }

    @Override
    public Backend create(GroupSpec group, RankContext context) {
        return NcclWorld.join(group, context);
    }
}

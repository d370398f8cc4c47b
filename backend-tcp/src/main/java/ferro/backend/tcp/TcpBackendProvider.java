package ferro.backend.tcp;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.Optional;

/** Opens groups over TCP. */
public final class TcpBackendProvider implements BackendProvider {
    /** Loads nothing; for {@link java.util.ServiceLoader}. */
    public TcpBackendProvider() {}

    @Override
    public String name() {
        return "tcp";
    }

    @Override
    public int priority() {
        return 50;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return Optional.empty();
    }

    @Override
    public Backend create(GroupSpec group, RankContext context) {
        throw new UnsupportedOperationException("under construction: " + group + context);
    }
}

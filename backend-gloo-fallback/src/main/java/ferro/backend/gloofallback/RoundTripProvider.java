package ferro.backend.gloofallback;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.dispatch.DeviceMemories;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Optional;

/**
 * The host round trip as a back end of its own, {@code -Dferro.backend=gloo-fallback}. Host tensors go to the back end
 * that {@code ferro.fallback.host} names. Device tensors go through host memory to the same back end, if the gate
 * ({@code ferro.gpu.fallback}) is open. Never chosen by {@code auto}.
 */
public final class RoundTripProvider implements BackendProvider {
    static final String NAME = "gloo-fallback";

    /** For the service loader. */
    public RoundTripProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int priority() {
        return -1;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return HostBackends.unavailableBecause(context).or(() -> DeviceMemories.unavailableBecause(context));
    }

    /**
     * Joins by the host back end.
     *
     * @param group   group to join
     * @param context context of the rank
     * @return this rank's end
     * @throws IllegalArgumentException if {@code ferro.fallback.host} names no usable back end with collectives
     */
    @Override
    public Backend create(GroupSpec group, RankContext context) {
        BackendProvider provider = HostBackends.named(context);
        Backend host = provider.create(group, context);
        if (host instanceof CollectiveBackend whole) {
            return new RoundTripBackend(whole, context);
        }
        host.close();
        throw new IllegalArgumentException(Settings.FALLBACK_HOST.name() + "=" + provider.name() + ": "
                + host.getClass().getSimpleName()
                + " implements no collectives: name another back end, for example tcp");
    }
}

package ferro.backend.gloofallback;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.dispatch.DeviceMemories;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The provider of calls through host memory as a separate back end, {@code -Dferro.backend=gloo-fallback}. Host tensors
 * go to the back end that {@code ferro.fallback.host} names. Device tensors go through host memory to the same back
 * end, if {@code ferro.gpu.fallback} allows this. The setting {@code auto} never chooses this back end.
 */
public final class RoundTripProvider implements BackendProvider {
    static final String NAME = "gloo-fallback";

    /** Creates the provider, for the service loader. */
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
        return hostUnavailableBecause(context).or(() -> DeviceMemories.unavailableBecause(context));
    }

    /**
     * Joins a group through the host back end.
     *
     * @param group   group to join
     * @param context context of the rank
     * @return back end of this rank
     * @throws IllegalArgumentException if {@code ferro.fallback.host} names no usable back end with collectives
     */
    @Override
    public Backend create(GroupSpec group, RankContext context) {
        BackendProvider provider = named(context);
        Backend host = provider.create(group, context);
        if (host instanceof CollectiveBackend whole) {
            return new RoundTripBackend(whole, context);
        }
        host.close();
        throw new IllegalArgumentException(Settings.FALLBACK_HOST.name() + "=" + provider.name() + ": "
                + host.getClass().getSimpleName()
                + " implements no collectives: name another back end, for example tcp");
    }

    private static Optional<String> hostUnavailableBecause(RankContext context) {
        try {
            named(context);
            return Optional.empty();
        } catch (IllegalArgumentException why) {
            return Optional.of(why.getMessage());
        }
    }

    /** Finds the back end that {@code ferro.fallback.host} names. */
    private static BackendProvider named(RankContext context) {
        String wanted = Settings.FALLBACK_HOST.of(context);
        String setting = Settings.FALLBACK_HOST.name() + "=" + wanted;
        if (wanted.equals(NAME)) {
            throw new IllegalArgumentException(
                    setting + " names the round trip itself: name the back end that carries its host tensors, for "
                            + "example tcp");
        }
        List<String> names = new ArrayList<>();
        ServiceErrors broken = new ServiceErrors();
        Optional<BackendProvider> found = Services.first(
                Services.of(BackendProvider.class),
                next -> {
                    names.add(next.name());
                    return next.name().equals(wanted) ? Optional.of(usable(next, setting, context)) : Optional.empty();
                },
                broken::add);
        names.addAll(broken.texts());
        names.remove(NAME);
        return found.orElseThrow(() -> new IllegalArgumentException(
                "no back end named " + setting + "; found: " + names
                        + ": use one of these names, or add the jar that has it",
                broken.cause()));
    }

    private static BackendProvider usable(BackendProvider provider, String setting, RankContext context) {
        provider.unavailableBecause(context).ifPresent(why -> {
            throw new IllegalArgumentException(setting + " cannot work here: " + why);
        });
        return provider;
    }
}

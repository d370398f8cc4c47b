package ferro.backend.gloofallback;

import ferro.spi.BackendProvider;
import ferro.spi.BrokenServices;
import ferro.spi.RankContext;
import ferro.spi.Services;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the back end that {@code ferro.fallback.host} names. */
final class HostBackends {
    private HostBackends() {}

    static Optional<String> unavailableBecause(RankContext context) {
        try {
            named(context);
            return Optional.empty();
        } catch (IllegalArgumentException why) {
            return Optional.of(why.getMessage());
        }
    }

    static BackendProvider named(RankContext context) {
        String wanted = Settings.FALLBACK_HOST.of(context);
        String setting = Settings.FALLBACK_HOST.name() + "=" + wanted;
        if (wanted.equals(RoundTripProvider.NAME)) {
            throw new IllegalArgumentException(
                    setting + " names the round trip itself: name the back end that carries its host tensors, for "
                            + "example tcp");
        }
        List<String> names = new ArrayList<>();
        BrokenServices broken = new BrokenServices();
        Optional<BackendProvider> found = Services.first(
                Services.of(BackendProvider.class),
                next -> {
                    names.add(next.name());
                    return next.name().equals(wanted) ? Optional.of(usable(next, setting, context)) : Optional.empty();
                },
                broken::add);
        names.addAll(broken.texts());
        names.remove(RoundTripProvider.NAME);
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

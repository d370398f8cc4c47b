package ferro.group;

import ferro.spi.BackendProvider;
import ferro.spi.BrokenServices;
import ferro.spi.RankContext;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.function.Supplier;

/**
 * A provider that was found, even if it is not usable.
 *
 * @param name        name by which users select the provider; the name of the class if the provider itself is broken
 * @param priority    priority of the provider; {@code auto} never chooses one below 0
 * @param unavailable why the provider cannot work in this process; empty if it can work
 * @param deviceKind  kind of device whose tensors the provider accepts, empty for host memory only
 * @param provider    provider; null if the provider is broken
 * @param failure     why the provider is broken; null if it is not
 */
record BackendCandidate(
        String name,
        int priority,
        Optional<String> unavailable,
        Optional<String> deviceKind,
        BackendProvider provider,
        Throwable failure) {
    /** Makes a provider and queries it. A failure of the provider becomes the reason in {@code unavailable}. */
    static BackendCandidate of(String type, Supplier<BackendProvider> make, RankContext context) {
        try {
            BackendProvider provider = make.get();
            return new BackendCandidate(
                    provider.name(),
                    provider.priority(),
                    provider.unavailableBecause(context),
                    provider.deviceKind(),
                    provider,
                    null);
        } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
            return broken(type, broken);
        }
    }

    static BackendCandidate broken(String type, Throwable why) {
        return new BackendCandidate(
                type,
                Integer.MIN_VALUE,
                Optional.of("broken: " + BrokenServices.root(why)),
                Optional.empty(),
                null,
                why);
    }
}

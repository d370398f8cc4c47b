package ferro.group;

import ferro.spi.BackendProvider;
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
 */
record BackendCandidate(
        String name,
        int priority,
        Optional<String> unavailable,
        Optional<String> deviceKind,
        BackendProvider provider) {
    /** Makes a provider and queries it. A failure of the provider becomes the reason in {@code unavailable}. */
    static BackendCandidate of(String type, Supplier<BackendProvider> make, RankContext context) {
        try {
            BackendProvider provider = make.get();
            return new BackendCandidate(
                    provider.name(),
                    provider.priority(),
                    provider.unavailableBecause(context),
                    provider.deviceKind(),
                    provider);
        } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
            return broken(type, broken);
        }
    }

    static BackendCandidate broken(String type, Throwable why) {
        Throwable root = why.getCause() == null ? why : why.getCause();
        return new BackendCandidate(type, Integer.MIN_VALUE, Optional.of("broken: " + root), Optional.empty(), null);
    }
}

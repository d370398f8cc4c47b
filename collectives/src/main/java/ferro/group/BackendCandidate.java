package ferro.group;

import ferro.spi.BackendProvider;
import ferro.spi.BrokenServices;
import ferro.spi.RankContext;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.function.Supplier;

/**
 * A provider that was found, even if it is not usable. Not thread-safe.
 *
 * <p>The provider is asked whether it can work when somebody needs the answer. A rank that starts spends no time on
 * providers that it cannot choose.
 */
final class BackendCandidate {
    private final BackendProvider provider;
    private final RankContext context;
    private final String type;
    private String name;
    private int priority;
    private Optional<String> deviceKind = Optional.empty();
    /** Null until the provider was asked. */
    private Optional<String> unavailable;

    private Throwable failure;

    private BackendCandidate(String type, BackendProvider provider, RankContext context) {
        this.type = type;
        this.provider = provider;
        this.context = context;
    }

    /** Makes a provider and queries it. A failure of the provider becomes the reason in {@link #unavailable}. */
    static BackendCandidate of(String type, Supplier<BackendProvider> make, RankContext context) {
        try {
            BackendCandidate made = new BackendCandidate(type, make.get(), context);
            made.name = made.provider.name();
            made.priority = made.provider.priority();
            made.deviceKind = made.provider.deviceKind();
            return made;
        } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
            return broken(type, broken);
        }
    }

    static BackendCandidate broken(String type, Throwable why) {
        BackendCandidate candidate = new BackendCandidate(type, null, null);
        candidate.breakBy(why);
        return candidate;
    }

    private void breakBy(Throwable why) {
        name = type;
        priority = Integer.MIN_VALUE;
        deviceKind = Optional.empty();
        unavailable = Optional.of("broken: " + BrokenServices.root(why));
        failure = why;
    }

    /** Returns the name by which users select the provider; the name of the class if the provider itself is broken. */
    String name() {
        return name;
    }

    /** Returns the priority of the provider; {@code auto} never chooses one below 0. */
    int priority() {
        return priority;
    }

    /** Returns why the provider cannot work in this process; empty if it can work. */
    Optional<String> unavailable() {
        if (unavailable == null) {
            try {
                unavailable = provider.unavailableBecause(context);
            } catch (ServiceConfigurationError | LinkageError | RuntimeException broken) {
                breakBy(broken);
            }
        }
        return unavailable;
    }

    /** Returns the kind of device whose tensors the provider accepts; empty for host memory only. */
    Optional<String> deviceKind() {
        return deviceKind;
    }

    /** Returns the provider; only of a candidate that is usable. */
    BackendProvider provider() {
        return provider;
    }

    /** Returns why the provider is broken; null if it is not, or was not asked yet. */
    Throwable failure() {
        return failure;
    }
}

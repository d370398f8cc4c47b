package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.BrokenServices;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Services;
import ferro.spi.Settings;
import ferro.spi.StoreProvider;
import java.net.URI;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Finds the provider of the store that {@code ferro.rendezvous} names. */
final class StoreProviders {
    private StoreProviders() {}

    /**
     * Calls the provider of the scheme of {@code ferro.rendezvous}.
     *
     * @param group group to join, for messages
     * @param ask   call of the provider, with the address
     * @throws FerroException RENDEZVOUS if no provider has this scheme; the message has all schemes. The cause is the error
     *     of a provider that cannot be loaded
     */
    static <T> T ask(GroupSpec group, RankContext context, BiFunction<StoreProvider, URI, T> ask) {
        String text = Settings.RENDEZVOUS.of(context);
        // java.net.URI needs text after the slashes, and env:// has none
        URI address = URI.create(text.endsWith("://") ? text + "/" : text);
        TreeSet<String> schemes = new TreeSet<>();
        BrokenServices broken = new BrokenServices();
        Function<StoreProvider, Optional<T>> ofScheme = new Function<>() {
            @Override
            public Optional<T> apply(StoreProvider next) {
                schemes.add(next.scheme());
                return next.scheme().equals(address.getScheme())
                        ? Optional.of(ask.apply(next, address))
                        : Optional.empty();
            }
        };
        Optional<T> found = Services.first(Services.of(StoreProvider.class), ofScheme, broken::add);
        if (found.isPresent()) {
            return found.get();
        }
        schemes.addAll(broken.texts());
        throw new FerroException(
                Code.RENDEZVOUS,
                Where.of(group.name(), group.rank()),
                "no store for ferro.rendezvous=" + address + "; there are stores for " + schemes
                        + ": use one of these, or add ferro to the class path",
                broken.cause());
    }
}

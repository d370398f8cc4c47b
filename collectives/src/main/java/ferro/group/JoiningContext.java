package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import ferro.spi.Settings;
import ferro.spi.StoreProvider;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;

/** A context that opens the store of {@code ferro.rendezvous} on first use, unless the outer context has a store. */
final class JoiningContext extends ForwardingContext {
    private final GroupSpec group;
    private Store store;
    private boolean opened;
    private boolean shares;
    private RuntimeException notOpened;

    JoiningContext(GroupSpec group, RankContext outer) {
        super(outer);
        this.group = group;
    }

    @Override
    public synchronized Store store() {
        if (notOpened != null) {
            throw notOpened;
        }
        if (store == null) {
            Optional<Store> given = given();
            store = given.isPresent() ? given.get() : open();
            opened = given.isEmpty();
        }
        return store;
    }

    /**
     * Returns the store; empty if the store cannot be opened. After a failure, later calls of {@link #store} throw the
     * same failure at once.
     */
    synchronized Optional<Store> storeIfAny() {
        try {
            return Optional.of(store());
        } catch (FerroException | IllegalArgumentException failure) {
            notOpened = failure;
            return Optional.empty();
        }
    }

    @Override
    public synchronized void releaseStore() {
        if (!shares) {
            closeStore();
        }
    }

    @Override
    public synchronized void releaseStore(Duration within) {
        if (!shares && opened) {
            store.close(within);
        }
    }

    /**
     * Marks the store as used by two back ends of one group. After this call only {@link #closeStore} closes the store.
     */
    synchronized void shareStore() {
        shares = true;
    }

    /** Closes the store if this context has opened the store; idempotent. */
    synchronized void closeStore() {
        if (opened) {
            store.close();
        }
    }

    private Optional<Store> given() {
        try {
            return Optional.of(outer().store());
        } catch (IllegalStateException none) {
            return Optional.empty();
        }
    }

    private Store open() {
        return ask(group, outer(), (provider, address) -> provider.open(address, group, this));
    }

    /**
     * Calls the provider of the scheme of {@code ferro.rendezvous}.
     *
     * @param group group to join, for messages
     * @param ask   call of the provider, with the address
     * @throws FerroException RENDEZVOUS if no provider has this scheme; the message lists all schemes. If a provider
     *     cannot be loaded, the error of the provider is the cause
     */
    static <T> T ask(GroupSpec group, RankContext context, BiFunction<StoreProvider, URI, T> ask) {
        String text = Settings.RENDEZVOUS.of(context);
        // java.net.URI needs text after the slashes, and env:// has none
        URI address = URI.create(text.endsWith("://") ? text + "/" : text);
        TreeSet<String> schemes = new TreeSet<>();
        ServiceErrors broken = new ServiceErrors();
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

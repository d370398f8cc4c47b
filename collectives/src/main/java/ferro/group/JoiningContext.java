package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Services;
import ferro.spi.Settings;
import ferro.spi.StoreProvider;
import java.net.URI;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeSet;

/** A context that opens the store of {@code ferro.rendezvous} on first use, if there is none yet. */
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
            store = given.orElseGet(this::open);
            opened = given.isEmpty();
        }
        return store;
    }

    /** Returns the store; empty if it cannot be opened. Later calls of {@link #store} then throw that failure at once. */
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

    /** Marks the store as used by two back ends of one group. Only {@link #closeStore} closes it then. */
    synchronized void shareStore() {
        shares = true;
    }

    /** Closes the store if it was opened here; idempotent. */
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
        String text = Settings.RENDEZVOUS.of(outer());
        // java.net.URI needs text after the slashes, which env:// does not have
        URI address = URI.create(text.endsWith("://") ? text + "/" : text);
        TreeSet<String> schemes = new TreeSet<>();
        Optional<Store> found = Services.first(
                ServiceLoader.load(StoreProvider.class),
                next -> {
                    schemes.add(next.scheme());
                    return next.scheme().equals(address.getScheme())
                            ? Optional.of(next.open(address, group, this))
                            : Optional.empty();
                },
                broken -> schemes.add("(broken: " + broken.getMessage() + ")"));
        return found.orElseThrow(() -> new FerroException(
                Code.RENDEZVOUS,
                Where.outside(group.name(), group.rank()),
                "no store for ferro.rendezvous=" + address + "; there are stores for " + schemes
                        + ": use one of these, or add ferro-backend-tcp to the class path"));
    }
}

package ferro.group;

import ferro.FerroException;
import ferro.Store;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Optional;

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
            store = given.isPresent() ? given.get() : open();
            opened = given.isEmpty();
        }
        return store;
    }

    /**
     * Returns the store, or empty if it cannot be opened. After a failure, later calls of {@link #store} throw the same
     * failure at once.
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

    /** Closes the store if this context has opened it; idempotent. */
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
        return StoreProviders.ask(group, outer(), (provider, address) -> provider.open(address, group, this));
    }
}

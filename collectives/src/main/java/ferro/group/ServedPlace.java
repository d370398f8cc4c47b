package ferro.group;

import ferro.spi.GroupSpec;
import ferro.spi.ServedStore;
import ferro.spi.StoreProvider;
import java.net.URI;
import java.util.Optional;

/**
 * The store that a context serves to the other ranks before it joins. Thread-safe. One thread at a time serves a store.
 * A close does not wait for this thread, and closes a store that this thread opens after the close.
 */
final class ServedPlace implements AutoCloseable {
    private final Object serving = new Object();
    private ServedStore served;
    private boolean closed;

    /** Returns the address of the store; the first call begins to serve the store. */
    String endpoint(GroupSpec group, SystemContext context) {
        synchronized (serving) {
            return known().orElseGet(() -> {
                ServedStore made = StoreProviders.ask(
                        group,
                        context,
                        (StoreProvider provider, URI address) -> provider.serve(address, group, context));
                keep(made);
                return made.endpoint();
            });
        }
    }

    private synchronized Optional<String> known() {
        return Optional.ofNullable(served).map(ServedStore::endpoint);
    }

    private void keep(ServedStore made) {
        synchronized (this) {
            if (!closed) {
                served = made;
                return;
            }
        }
        made.close();
    }

    /** Ends the store, if it was served. */
    @Override
    public void close() {
        ServedStore last;
        synchronized (this) {
            closed = true;
            last = served;
            served = null;
        }
        if (last != null) {
            last.close();
        }
    }
}

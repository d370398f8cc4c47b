package ferro.group;

import ferro.spi.GroupSpec;
import ferro.spi.ServedStore;
import ferro.spi.StoreProvider;

/** The store that a context serves to the other ranks before it joins. Thread-safe. */
final class ServedPlace implements AutoCloseable {
    private ServedStore served;
    private boolean closed;

    /** Returns the address of the store; the first call serves it. */
    synchronized String endpoint(GroupSpec group, SystemContext context) {
        if (closed) {
            throw new IllegalStateException("the store of rank " + group.rank() + " of \"" + group.name()
                    + "\" has no address: its context is closed");
        }
        if (served == null) {
            served = StoreProviders.ask(
                    group,
                    context,
                    (StoreProvider provider, java.net.URI address) -> provider.serve(address, group, context));
        }
        return served.endpoint();
    }

    /** Ends the store, if it was served. */
    @Override
    public synchronized void close() {
        closed = true;
        if (served != null) {
            served.close();
            served = null;
        }
    }
}

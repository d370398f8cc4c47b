package ferro.backend.tcp.store;

import ferro.Store;
import ferro.backend.tcp.EnvStoreProvider;
import ferro.backend.tcp.TcpStoreProvider;
import ferro.group.SystemContext;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.StoreProvider;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/** A rank's context that opens its store by the rendezvous on first use, as joining does. */
public class JoiningContext extends ForwardingContext implements AutoCloseable {
    private final SystemContext inner;
    private final GroupSpec group;
    private Store store;

    public JoiningContext(Map<String, String> settings, GroupSpec group) {
        this(SystemContext.of(settings), group);
    }

    private JoiningContext(SystemContext inner, GroupSpec group) {
        super(inner);
        this.inner = inner;
        this.group = group;
    }

    @Override
    public synchronized Store store() {
        if (store == null) {
            URI address = Rendezvous.address(setting("ferro.rendezvous").orElse("env://"));
            StoreProvider provider =
                    address.getScheme().equals("tcp") ? new TcpStoreProvider() : new EnvStoreProvider();
            store = provider.open(address, group, this);
        }
        return store;
    }

    @Override
    public synchronized void releaseStore() {
        if (store != null) {
            store.close();
        }
    }

    @Override
    public synchronized void releaseStore(Duration within) {
        if (store != null) {
            store.close(within);
        }
    }

    @Override
    public synchronized void close() {
        if (store != null) {
            store.close();
        }
        inner.close();
    }
}

package ferro.backend.tcp;

import ferro.Store;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.StoreProvider;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** A rank's context that opens its store by the rendezvous on first use, as joining does. */
final class JoiningContext implements RankContext, AutoCloseable {
    private final SystemContext inner;
    private final GroupSpec group;
    private Store store;

    JoiningContext(Map<String, String> settings, GroupSpec group) {
        inner = SystemContext.of(settings);
        this.group = group;
    }

    @Override
    public Optional<String> setting(String name) {
        return inner.setting(name);
    }

    @Override
    public long nanoTime() {
        return inner.nanoTime();
    }

    @Override
    public ScheduledExecutorService background() {
        return inner.background();
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
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        return inner.shared(type, make);
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        return inner.find(type);
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        inner.release(type);
    }

    @Override
    public synchronized void close() {
        if (store != null) {
            store.close();
        }
        inner.close();
    }
}

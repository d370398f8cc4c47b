package ferro.backend.tcp;

import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.store.Rendezvous;
import ferro.backend.tcp.store.StoreConnector;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.ServedStore;
import ferro.spi.StoreProvider;
import java.net.URI;

/** Serves the store at {@code serve://host}, on the port at which this rank listens ({@code ferro.tcp.port}). */
public final class ServingStoreProvider implements StoreProvider {
    /** Creates the provider without loading Netty; for {@link java.util.ServiceLoader}. */
    public ServingStoreProvider() {}

    @Override
    public String scheme() {
        return "serve";
    }

    @Override
    public Store open(URI address, GroupSpec group, RankContext context) {
        return NettyModules.with(
                Where.of(group.name(), group.rank()),
                () -> StoreConnector.open(Rendezvous.serve(address, group, context), group, context));
    }

    @Override
    public ServedStore serve(URI address, GroupSpec group, RankContext context) {
        return NettyModules.with(
                Where.of(group.name(), group.rank()),
                () -> StoreConnector.serve(Rendezvous.serve(address, group, context), group, context));
    }
}

package ferro.backend.tcp;

import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.store.Rendezvous;
import ferro.backend.tcp.store.StoreConnector;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.StoreProvider;
import java.net.URI;

/** Opens the store at {@code tcp://host:port}, which rank 0 serves at that address. */
public final class TcpStoreProvider implements StoreProvider {
    /** Creates the provider without loading Netty; for {@link java.util.ServiceLoader}. */
    public TcpStoreProvider() {}

    @Override
    public String scheme() {
        return "tcp";
    }

    @Override
    public Store open(URI address, GroupSpec group, RankContext context) {
        return NettyModules.with(
                Where.of(group.name(), group.rank()),
                () -> StoreConnector.open(Rendezvous.tcp(address, group, context), group, context));
    }
}

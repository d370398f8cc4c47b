package ferro.backend.tcp;

import ferro.Store;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.StoreProvider;
import java.net.URI;

/** Opens the store that the variables of a launcher name: {@code env://}. */
public final class EnvStoreProvider implements StoreProvider {
    /** Loads nothing; for {@link java.util.ServiceLoader}. */
    public EnvStoreProvider() {}

    @Override
    public String scheme() {
        return "env";
    }

    @Override
    public Store open(URI address, GroupSpec group, RankContext context) {
        return StoreOpening.open(Rendezvous.env(group, context), group, context);
    }
}

package ferro.backend.tcp;

import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.store.JobFileRendezvous;
import ferro.backend.tcp.store.Rendezvous;
import ferro.backend.tcp.store.StoreConnector;
import ferro.spi.GroupSpec;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import ferro.spi.StoreProvider;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.util.Optional;

/**
 * Opens the store at {@code env://}. The environment variables of a launcher name the address of the store. Without
 * such variables, a job file names the address.
 */
public final class EnvStoreProvider implements StoreProvider {
    /** Creates the provider without loading Netty; for {@link java.util.ServiceLoader}. */
    public EnvStoreProvider() {}

    @Override
    public String scheme() {
        return "env";
    }

    @Override
    public Store open(URI address, GroupSpec group, RankContext context) {
        return NettyModules.with(Where.of(group.name(), group.rank()), () -> open(group, context));
    }

    private static Store open(GroupSpec group, RankContext context) {
        Optional<JobFileRendezvous> file = JobFileRendezvous.find(group, context);
        if (file.isPresent()) {
            return StoreConnector.open(file.get(), group, context);
        }
        Rendezvous meeting = Rendezvous.env(group, context);
        int named = Settings.MASTER_PORT.find(context).orElse(meeting.port());
        if (meeting.port() != named) {
            PlainLoggers.logger("ferro.join")
                    .log(
                            Level.INFO,
                            "torchrun's agent holds port " + named + ": ferro's store is at port " + meeting.port()
                                    + " (FERRO_MASTER_PORT sets another)");
        }
        return StoreConnector.open(meeting, group, context);
    }
}

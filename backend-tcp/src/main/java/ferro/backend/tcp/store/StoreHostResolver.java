package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.LoopbackHostName;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.net.SettingNames;
import ferro.job.JobFinder;
import ferro.job.RankOfJob;
import ferro.spi.GroupSpec;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Replaces a host name that this host resolves to loopback by an address that other hosts can reach. A name that
 * resolves to loopback means this host, so rank 0 is on this host. All ranks of this host replace the name by the same
 * address.
 */
final class StoreHostResolver {
    private static final Set<String> NOT_FIXED = Set.of("auto", "0.0.0.0", "::");

    private StoreHostResolver() {}

    /**
     * Returns the host of the store for the ranks of this host. The name is replaced only if the name is {@linkplain
     * LoopbackHostName this host's loopback}, and if some ranks are on other hosts. A rank without a strong secret does
     * not replace the name, because such a rank is allowed to listen only on loopback.
     */
    static String host(String named, GroupSpec group, RankContext context) {
        Optional<LoopbackHostName> own = LoopbackHostName.find(named);
        if (own.isEmpty() || group.worldSize() == 1 || allLocal(context)) {
            return named;
        }
        String bind = Settings.TCP_BIND.of(context);
        if (!NOT_FIXED.contains(bind)) {
            // the rank that serves the store listens only at this address
            return bind;
        }
        Where where = Where.of(group.name(), group.rank());
        String rank = "rank " + group.rank() + " of \"" + group.name() + "\": "
                + own.get().trouble();
        if (!isStrong(context, where)) {
            say(
                    rank
                            + "; only ranks of this machine can join, because ferro listens only on loopback "
                            + "without a secret of "
                            + SecretFile.LEAST_RANDOM_BYTES + " random bytes: give all ranks the same FERRO_SECRET_FILE"
                            + " (ferro secret FILE makes one)",
                    context);
            return named;
        }
        try {
            String address = own.get().reachableAddress(where);
            say(
                    rank + "; it uses " + address + " instead, which is an address of this machine ("
                            + SettingNames.of(context).ofHost() + " names another)",
                    context);
            return address;
        } catch (FerroException none) {
            if (Settings.TCP_INTERFACE.find(context).isEmpty()) {
                say(rank + "; only ranks of this machine can join: " + none.getMessage(), context);
            }
            // with a configured interface, the rank that serves the store listens on all interfaces
            return named;
        }
    }

    /**
     * Returns the possible addresses of a store that another process serves. The other process may have replaced the
     * name as well, or may listen on loopback.
     */
    static List<InetAddress> addresses(String named, List<InetAddress> resolved, Where where) {
        List<InetAddress> all = new ArrayList<>(resolved);
        try {
            Optional<LoopbackHostName> own = LoopbackHostName.find(named);
            if (own.isPresent()) {
                all.add(AddressLookup.literal(own.get().reachableAddress(where)));
            }
        } catch (FerroException none) {
            // this host has no default route, so the store can only be on loopback
        }
        return all;
    }

    private static boolean allLocal(RankContext context) {
        Optional<RankOfJob> job = JobFinder.of(context).job();
        return job.isPresent() && job.get().rendezvous().allLocal();
    }

    private static boolean isStrong(RankContext context, Where where) {
        return Secret.of(context, where).randomBytes() >= SecretFile.LEAST_RANDOM_BYTES;
    }

    /** Logs a line once per host. If the launcher does not number the ranks of a host, each rank logs the line. */
    private static void say(String text, RankContext context) {
        boolean first = Settings.LOCAL_RANK.find(context).orElse(0) == 0 && OnceRegistry.isFirst(context, text);
        PlainLoggers.write("ferro.join", first ? Level.WARNING : Level.DEBUG, text);
    }
}

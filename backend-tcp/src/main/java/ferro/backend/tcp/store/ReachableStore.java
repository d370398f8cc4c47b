package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.Addresses;
import ferro.backend.tcp.net.OwnHost;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.net.StoreSettings;
import ferro.job.JobFinder;
import ferro.job.RankOfJob;
import ferro.spi.GroupSpec;
import ferro.spi.LogLines;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Replaces a host name that this machine resolves to loopback by an address that other hosts can reach. All ranks of this
 * machine do the same, because rank 0, which the name means, is one of them.
 */
final class ReachableStore {
    private static final Set<String> NOT_FIXED = Set.of("auto", "0.0.0.0", "::");

    private ReachableStore() {}

    /**
     * Returns the host of the store for the ranks of this machine. A name stays as it is if it is not {@linkplain OwnHost
     * this machine's loopback}, if all ranks are on this machine, or if the rank may not listen beyond loopback, since it
     * has no strong secret.
     */
    static String host(String named, GroupSpec group, RankContext context) {
        Optional<OwnHost> own = OwnHost.find(named);
        if (own.isEmpty() || group.worldSize() == 1 || allLocal(context)) {
            return named;
        }
        String bind = Settings.TCP_BIND.of(context);
        if (!NOT_FIXED.contains(bind)) {
            // the rank that serves listens there alone
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
                            + StoreSettings.of(context).ofHost() + " names another)",
                    context);
            return address;
        } catch (FerroException none) {
            if (Settings.TCP_INTERFACE.find(context).isEmpty()) {
                say(rank + "; only ranks of this machine can join: " + none.getMessage(), context);
            }
            // with a named interface the rank that serves listens on all interfaces
            return named;
        }
    }

    /**
     * Returns the addresses at which a store may be that another process serves. That process may have replaced the name too,
     * or may listen on loopback.
     */
    static List<InetAddress> addresses(String named, List<InetAddress> resolved, Where where) {
        List<InetAddress> all = new ArrayList<>(resolved);
        try {
            Optional<OwnHost> own = OwnHost.find(named);
            if (own.isPresent()) {
                all.add(Addresses.literal(own.get().reachableAddress(where)));
            }
        } catch (FerroException none) {
            // without a route only loopback is left
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

    /** Logs a line once per machine, where the launcher tells the ranks of a machine apart. */
    private static void say(String text, RankContext context) {
        boolean first = Settings.LOCAL_RANK.find(context).orElse(0) == 0 && OncePerContext.isFirst(context, text);
        LogLines.write("ferro.join", first ? Level.WARNING : Level.DEBUG, text);
    }
}

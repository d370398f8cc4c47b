package ferro.backend.tcp;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.URI;
import java.util.Optional;

/**
 * Where the ranks of a job meet.
 *
 * @param host       of the store
 * @param port       of the store
 * @param servedHere whether this rank is the one to serve it
 * @param server     who serves it, for messages
 */
record Rendezvous(String host, int port, boolean servedHere, String server) {
    private static final String RANK_ZERO = "rank 0";

    /** Checks the port. */
    Rendezvous {
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException(
                    "the store cannot be at port " + port + " of " + host + ": need 1 to 65535");
        }
    }

    /** Reads the setting, if what it needs is there: a context with a store of its own needs none. */
    static Optional<Rendezvous> find(GroupSpec group, RankContext context) {
        URI address = address(Settings.RENDEZVOUS.of(context));
        if (address.getScheme().equals("tcp")) {
            return Optional.of(tcp(address, group, context));
        }
        boolean known = Settings.MASTER_ADDR.find(context).isPresent()
                && Settings.MASTER_PORT.find(context).isPresent();
        return known && address.getScheme().equals("env") ? Optional.of(env(group, context)) : Optional.empty();
    }

    /** {@code tcp://host:port}. */
    static Rendezvous tcp(URI address, GroupSpec group, RankContext context) {
        if (address.getHost() == null || address.getPort() < 0) {
            throw new IllegalArgumentException(Settings.RENDEZVOUS.name() + "=" + address
                    + ": need tcp://host:port, for example tcp://10.0.0.1:29500");
        }
        String host = address.getHost();
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        return of(bare, address.getPort(), group, context);
    }

    /** {@code env://}: the variables that torchrun and ferro's launcher set. */
    static Rendezvous env(GroupSpec group, RankContext context) {
        String host = Settings.MASTER_ADDR.of(context);
        int port = Settings.MASTER_PORT.of(context);
        if (Settings.TORCHELASTIC_USE_AGENT_STORE.of(context)) {
            port = Settings.FERRO_MASTER_PORT.find(context).orElse(port + 1);
        }
        return of(host, port, group, context);
    }

    /** Rank 0 of the job serves, unless the launcher does; a group of other ranks has a rank 0 that must not. */
    private static Rendezvous of(String host, int port, GroupSpec group, RankContext context) {
        boolean launcher = Settings.STORE_SERVED.of(context);
        int jobRank = Settings.RANK
                .find(context)
                .or(() -> Settings.ENV_RANK.find(context))
                .orElse(group.rank());
        return new Rendezvous(host, port, jobRank == 0 && !launcher, launcher ? "the launcher" : RANK_ZERO);
    }

    /** Whether another rank serves, and no launcher. */
    boolean servedByRankZero() {
        return !servedHere && server.equals(RANK_ZERO);
    }

    /** Java's URI needs something behind the slashes, which {@code env://} has not. */
    static URI address(String text) {
        try {
            URI address = URI.create(text.endsWith("://") ? text + "/" : text);
            if (address.getScheme() != null) {
                return address;
            }
        } catch (IllegalArgumentException unreadable) {
            throw new IllegalArgumentException(
                    Settings.RENDEZVOUS.name() + "=" + text + ": need " + Settings.RENDEZVOUS.need(), unreadable);
        }
        throw new IllegalArgumentException(
                Settings.RENDEZVOUS.name() + "=" + text + ": need " + Settings.RENDEZVOUS.need());
    }
}

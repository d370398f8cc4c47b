package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.job.Job;
import ferro.job.JobFinder;
import ferro.job.Meeting;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.net.InetAddress;
import java.net.URI;
import java.util.Optional;

/**
 * Where the ranks of a job meet.
 *
 * @param host       of the store
 * @param port       of the store
 * @param servedHere whether this rank is the one to serve it
 * @param server     who serves it, for messages
 * @param secret     of the job, where a job file tells it
 */
record Rendezvous(String host, int port, boolean servedHere, String server, Optional<Secret> secret) {
    static final String RANK_ZERO = "rank 0";

    /** Checks the port; who serves and tells the others may take any, 0. */
    Rendezvous {
        if (port < (servedHere ? 0 : 1) || port > 65535) {
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
        if (!address.getScheme().equals("env")) {
            return Optional.empty();
        }
        Optional<Meeting> told = JobFinder.of(context).job().map(Job::meeting);
        boolean host = Settings.MASTER_ADDR.find(context).isPresent()
                || told.flatMap(Meeting::host).isPresent();
        boolean port = Settings.MASTER_PORT.find(context).isPresent()
                || told.stream().anyMatch(meeting -> meeting.port().isPresent());
        return host && port ? Optional.of(env(group, context)) : Optional.empty();
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

    /** {@code env://}: the variables that torchrun and ferro's launcher set, else what another launcher's say. */
    static Rendezvous env(GroupSpec group, RankContext context) {
        Optional<Meeting> told = JobFinder.of(context).job().map(Job::meeting);
        Optional<String> named = Settings.MASTER_ADDR.find(context);
        Optional<String> host = named.or(() -> told.flatMap(Meeting::host));
        if (host.isEmpty()) {
            told.flatMap(Meeting::noHost).ifPresent(why -> {
                throw new IllegalArgumentException(why);
            });
        }
        String known = host.orElseGet(() -> Settings.MASTER_ADDR.of(context));
        Rendezvous all = of(known, port(told, context), group, context);
        return all.servedHere && named.isEmpty()
                ? all.at(reachable(host, context, Where.outside(group.name(), group.rank())))
                : all;
    }

    private static int port(Optional<Meeting> told, RankContext context) {
        int port = Settings.MASTER_PORT
                .find(context)
                .or(() ->
                        told.flatMap(meeting -> meeting.port().stream().boxed().findFirst()))
                .orElseGet(() -> Settings.MASTER_PORT.of(context));
        return Settings.TORCHELASTIC_USE_AGENT_STORE.of(context)
                ? Settings.FERRO_MASTER_PORT.find(context).orElse(port + 1)
                : port;
    }

    private Rendezvous at(String other) {
        return new Rendezvous(other, port, servedHere, server, secret);
    }

    /**
     * The address that rank 0 listens on: a name that only its machine understands as itself, as many distributions write one to
     * /etc/hosts, is no use to the others.
     */
    static String reachable(Optional<String> host, RankContext context, Where where) {
        return host.filter(name -> Addresses.isKnown(name) && !Addresses.leadsToLoopback(name))
                .orElseGet(() -> ofThisMachine(context, where));
    }

    private static String ofThisMachine(RankContext context, Where where) {
        try {
            return Addresses.ofDefaultRoute(where).getHostAddress();
        } catch (FerroException several) {
            if (Settings.TCP_INTERFACE.find(context).isEmpty()) {
                throw several;
            }
            // the one that is named is told to the others, and listened on beside this
            return InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    /** Rank 0 of the job serves, unless the launcher does; a group of other ranks has a rank 0 that must not. */
    private static Rendezvous of(String host, int port, GroupSpec group, RankContext context) {
        boolean launcher = Settings.STORE_SERVED.of(context);
        int jobRank = Settings.RANK
                .find(context)
                .or(() -> Settings.ENV_RANK.find(context))
                .orElse(group.rank());
        return new Rendezvous(
                host, port, jobRank == 0 && !launcher, launcher ? "the launcher" : RANK_ZERO, Optional.empty());
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

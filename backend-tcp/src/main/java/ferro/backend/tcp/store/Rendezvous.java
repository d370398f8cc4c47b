package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.Secret;
import ferro.job.JobFinder;
import ferro.job.RankOfJob;
import ferro.job.RendezvousPoint;
import ferro.spi.GroupSpec;
import ferro.spi.HostPort;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.net.InetAddress;
import java.net.URI;
import java.util.Optional;

/**
 * The store by which the ranks of a job find each other.
 *
 * @param host       host of the store
 * @param port       port of the store
 * @param servedHere whether this rank serves the store
 * @param server     rank or launcher that serves the store, for messages
 * @param secret     secret of the job, if a job file contains it
 */
public record Rendezvous(String host, int port, boolean servedHere, String server, Optional<Secret> secret) {
    static final String RANK_ZERO = "rank 0";

    /**
     * Checks the port number. Port 0 means any free port, and is allowed only if this rank serves the store. The rank
     * must then publish the port.
     */
    public Rendezvous {
        if (port < (servedHere ? 0 : 1) || port > 65535) {
            throw new IllegalArgumentException(
                    "the store cannot be at port " + port + " of " + host + ": need 1 to 65535");
        }
    }

    /**
     * Reads the rendezvous from the settings; empty if no setting names it. A context with a store of its own needs no
     * rendezvous.
     */
    public static Optional<Rendezvous> find(GroupSpec group, RankContext context) {
        URI address = address(Settings.RENDEZVOUS.of(context));
        if (address.getScheme().equals("tcp")) {
            return Optional.of(tcp(address, group, context));
        }
        if (address.getScheme().equals("serve")) {
            return Optional.of(serve(address, group, context));
        }
        if (!address.getScheme().equals("env")) {
            return Optional.empty();
        }
        Optional<RankOfJob> job = JobFinder.of(context).job();
        boolean host = Settings.MASTER_ADDR.find(context).isPresent()
                || job.isPresent() && job.get().rendezvous().host().isPresent();
        boolean port = Settings.MASTER_PORT.find(context).isPresent()
                || job.isPresent() && job.get().rendezvous().port().isPresent();
        return host && port ? Optional.of(env(group, context)) : Optional.empty();
    }

    /** Returns the rendezvous of {@code tcp://host:port}. */
    public static Rendezvous tcp(URI address, GroupSpec group, RankContext context) {
        HostPort store = HostPort.of(address).orElse(null);
        if (store == null || store.port() < 0) {
            throw new IllegalArgumentException(Settings.RENDEZVOUS.name() + "=" + address
                    + ": need tcp://host:port, for example tcp://10.0.0.1:29500");
        }
        return of(store.host(), store.port(), group, context);
    }

    /** Returns the rendezvous of {@code serve://host}, where this rank serves the store on its own port. */
    public static Rendezvous serve(URI address, GroupSpec group, RankContext context) {
        HostPort own = HostPort.of(address).orElse(null);
        if (own == null || own.port() >= 0) {
            throw new IllegalArgumentException(Settings.RENDEZVOUS.name() + "=" + address
                    + ": need serve://host, for example serve://10.0.0.1; its ports are " + Settings.TCP_PORT.name());
        }
        String host = StoreHostResolver.host(own.host(), group, context);
        return new Rendezvous(host, 0, true, "rank " + group.rank(), Optional.empty());
    }

    /** Returns the rendezvous of {@code env://}, from the variables of torchrun, ferro or another launcher. */
    public static Rendezvous env(GroupSpec group, RankContext context) {
        Optional<RankOfJob> job = JobFinder.of(context).job();
        RendezvousPoint told = job.isPresent() ? job.get().rendezvous() : null;
        Optional<String> named = Settings.MASTER_ADDR.find(context);
        Optional<String> host = named.isPresent() || told == null ? named : told.host();
        if (host.isEmpty()) {
            throw told != null && told.noHost().isPresent()
                    ? new IllegalArgumentException(told.noHost().get())
                    : unset(Settings.MASTER_ADDR);
        }
        Rendezvous all = of(host.get(), port(told, context), group, context);
        return all.servedHere && named.isEmpty()
                ? all.at(reachable(host, context, Where.of(group.name(), group.rank())))
                : all;
    }

    private static int port(RendezvousPoint told, RankContext context) {
        Optional<Integer> set = Settings.MASTER_PORT.find(context);
        if (set.isEmpty() && (told == null || told.port().isEmpty())) {
            throw unset(Settings.MASTER_PORT);
        }
        int port = set.isPresent() ? set.get() : told.port().getAsInt();
        return Settings.TORCHELASTIC_USE_AGENT_STORE.of(context)
                ? Settings.FERRO_MASTER_PORT.find(context).orElse(port + 1)
                : port;
    }

    private static IllegalArgumentException unset(Setting<?> setting) {
        return new IllegalArgumentException(setting.name() + " is not set: need " + setting.need()
                + " of the store; set the variables MASTER_ADDR and MASTER_PORT, or -D" + Settings.RENDEZVOUS.name()
                + "=tcp://HOST:PORT, or call JoinOptions.storeAt or serveStore");
    }

    private Rendezvous at(String other) {
        return new Rendezvous(other, port, servedHere, server, secret);
    }

    /**
     * Returns the address at which rank 0 listens. A name that resolves to loopback on its own host is not used,
     * because other ranks could not connect. Many distributions write such a name of the host to /etc/hosts.
     */
    static String reachable(Optional<String> host, RankContext context, Where where) {
        boolean usable =
                host.isPresent() && AddressLookup.isKnown(host.get()) && !AddressLookup.leadsToLoopback(host.get());
        return usable ? host.get() : ofThisMachine(context, where);
    }

    private static String ofThisMachine(RankContext context, Where where) {
        try {
            return AddressLookup.ofDefaultRoute(where).getHostAddress();
        } catch (FerroException several) {
            if (Settings.TCP_INTERFACE.find(context).isEmpty()) {
                throw several;
            }
            // rank 0 publishes the address of the configured interface to the other ranks, and also listens at this
            // address
            return InetAddress.getLoopbackAddress().getHostAddress();
        }
    }

    /**
     * Creates a rendezvous. Rank 0 of the job serves the store, unless the launcher serves the store. Rank 0 of a group
     * with fewer ranks than the job must not serve the store. A launcher that serves the store has chosen the store's
     * address.
     */
    private static Rendezvous of(String named, int port, GroupSpec group, RankContext context) {
        boolean launcher = Settings.STORE_SERVED.of(context);
        Optional<Integer> set = Settings.RANK.find(context);
        int jobRank =
                set.isPresent() ? set.get() : Settings.ENV_RANK.find(context).orElse(group.rank());
        String host = launcher ? named : StoreHostResolver.host(named, group, context);
        return new Rendezvous(
                host, port, jobRank == 0 && !launcher, launcher ? "the launcher" : RANK_ZERO, Optional.empty());
    }

    /** Returns whether rank 0 serves the store and this process is another rank than rank 0. */
    boolean servedByRankZero() {
        return !servedHere && server.equals(RANK_ZERO);
    }

    /** Parses the address of a rendezvous. Java's URI refuses {@code env://}, which has no text after the slashes. */
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

package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** The one listening port of a rank and its background loop, shared by all groups and closed with the last. */
final class TcpPort implements AutoCloseable {
    private final BackgroundLoop loop;
    private final TcpIo io;
    private final Credentials own;
    private final TcpListener listener;
    private final TcpDialer dialer;
    private final Map<Long, TcpListener.Guest> groups = new ConcurrentHashMap<>();
    private final InetSocketAddress bound;
    private final String advertised;
    private final LongSupplier clock;
    private volatile StoreService served;
    /** Stores that this process was connected to until they went away. */
    private final Set<InetSocketAddress> lostStores = ConcurrentHashMap.newKeySet();

    private TcpPort(Plan plan, RankContext context) {
        io = TcpIo.of(context);
        clock = context::nanoTime;
        own = plan.own;
        loop = new BackgroundLoop(io, "ferro-" + plan.where.group() + "-" + plan.where.rank() + "-net");
        StrangerLog strangers = new StrangerLog(System.getLogger("ferro.tcp"), clock);
        listener = new TcpListener(own, new Guests(), strangers);
        dialer = new TcpDialer(io, loop.group(), own, clock);
        try {
            bound = listener.bind(io, loop, plan.bind);
        } catch (Refusal refusal) {
            loop.close();
            throw refusal.failure(plan.where, "rank " + plan.where.rank() + " of \"" + plan.where.group() + "\"");
        }
        advertised = plan.advertise;
    }

    /**
     * Uses the port, binding it first where this is the first use; given back by {@code context.release}.
     *
     * @throws FerroException RENDEZVOUS if it cannot be bound, UNAUTHENTICATED if the secret cannot be read, or is missing
     *     where one is needed, RESOURCE without memory or descriptors
     */
    static TcpPort use(GroupSpec group, RankContext context, long deadlineNanos) {
        Optional<Rendezvous> meeting = Rendezvous.find(group, context);
        return use(group, context, meeting.map(Rendezvous::host).orElse(null), 0, deadlineNanos);
    }

    /** Uses the port of the rank that serves the store: it must be the one that all others know. */
    static TcpPort serving(Rendezvous meeting, GroupSpec group, RankContext context, long deadlineNanos) {
        TcpPort port = use(group, context, meeting.host(), meeting.port(), deadlineNanos);
        if (port.bound.getPort() != meeting.port()) {
            context.release(TcpPort.class);
            throw new FerroException(
                    Code.RENDEZVOUS,
                    Where.outside(group.name(), group.rank()),
                    "rank " + group.rank() + " of \"" + group.name() + "\" must serve the store at port "
                            + meeting.port() + ", but its one port is " + port.bound.getPort() + " already");
        }
        port.serve();
        return port;
    }

    private static TcpPort use(GroupSpec group, RankContext context, String host, int storePort, long deadlineNanos) {
        Where where = Where.outside(group.name(), group.rank());
        InetAddress meeting = host == null
                ? InetAddress.getLoopbackAddress()
                : Addresses.resolved(host, deadlineNanos, context, where);
        return context.shared(TcpPort.class, () -> open(plan(where, context, meeting, storePort), context));
    }

    private static TcpPort open(Plan plan, RankContext context) {
        try {
            return new TcpPort(plan, context);
        } catch (OutOfMemoryError | IllegalStateException | ChannelException unable) {
            throw new FerroException(
                    Code.RESOURCE,
                    plan.where,
                    "rank " + plan.where.rank() + " of \"" + plan.where.group() + "\" cannot open its port, for want of"
                            + " memory or descriptors: " + unable.getMessage(),
                    unable);
        }
    }

    private static Plan plan(Where where, RankContext context, InetAddress meeting, int storePort) {
        int port = Settings.TCP_PORT.of(context);
        if (storePort > 0 && port > 0 && port != storePort) {
            throw new IllegalArgumentException(Settings.TCP_PORT.name() + "=" + port
                    + ": this rank serves the store, which all others expect at port " + storePort
                    + "; leave it unset here");
        }
        String asked = Settings.TCP_BIND.of(context);
        InetAddress routing = storePort > 0 ? meeting : Addresses.routingTo(meeting, where);
        InetAddress bind = asked.equals("auto") ? routing : Addresses.resolved(asked, 0, context, where);
        Credentials own = credentials(where, context);
        checkOpen(bind, own.secret(), where);
        String told = Settings.TCP_ADVERTISE.of(context);
        InetAddress reachable = bind.isAnyLocalAddress() ? routing : bind;
        return new Plan(
                where,
                new InetSocketAddress(bind, storePort > 0 ? storePort : port),
                told.equals("auto") ? reachable.getHostAddress() : told,
                own);
    }

    private static Credentials credentials(Where where, RankContext context) {
        Secret secret = Settings.SECRET_FILE
                .find(context)
                .map(file -> Secret.read(Path.of(file), where))
                .orElseGet(Secret::none);
        return new Credentials(Settings.JOB_ID.of(context), secret, new SecureRandom());
    }

    /** Without a secret nobody from another machine may come in. */
    static void checkOpen(InetAddress bind, Secret secret, Where where) {
        if (!secret.present() && !bind.isLoopbackAddress()) {
            throw new FerroException(
                    Code.UNAUTHENTICATED,
                    where,
                    "rank " + where.rank() + " of \"" + where.group() + "\" cannot listen on " + bind.getHostAddress()
                            + " without a secret: give all ranks the same FERRO_SECRET_FILE, or bind loopback"
                            + " (ferro.tcp.bind=127.0.0.1)");
        }
    }

    TcpIo io() {
        return io;
    }

    BackgroundLoop loop() {
        return loop;
    }

    long now() {
        return clock.getAsLong();
    }

    TcpDialer dialer() {
        return dialer;
    }

    /** What is listened on. */
    InetSocketAddress bound() {
        return bound;
    }

    /** The host that other ranks are told. */
    String advertised() {
        return advertised;
    }

    /** Sends connections of a group to its owner. */
    void enter(long group, int worldSize, TcpListener.Guest guest) {
        listener.expectRanks(worldSize);
        groups.put(group, guest);
    }

    void leave(long group) {
        groups.remove(group);
    }

    /** Notes that a store has gone away, or is there again. */
    void storeLost(InetSocketAddress at, boolean lost) {
        if (lost) {
            lostStores.add(at);
        } else {
            lostStores.remove(at);
        }
    }

    boolean hasLostStore(InetSocketAddress at) {
        return lostStores.contains(at);
    }

    /** Returns whether the store is served here. */
    boolean servesStore() {
        return served != null;
    }

    private synchronized void serve() {
        if (served == null) {
            served = new StoreService();
        }
    }

    @Override
    public void close() {
        listener.close();
        StoreService ended = served;
        if (ended != null) {
            loop.run(ended::close);
        }
        loop.close();
    }

    /** What to bind and to tell. */
    private record Plan(Where where, InetSocketAddress bind, String advertise, Credentials own) {}

    /** Leads connections to whom they are for. */
    private final class Guests implements TcpListener.Guest {
        @Override
        public void admit(Hello hello, Channel channel) throws Refusal {
            owner(hello).admit(hello, channel);
        }

        @Override
        public void entered(Hello hello, Channel channel) {
            try {
                owner(hello).entered(hello, channel);
            } catch (Refusal left) {
                channel.close();
            }
        }

        private TcpListener.Guest owner(Hello hello) throws Refusal {
            if (hello.kind() == Hello.Kind.STORE) {
                return StoreGuest.of(served, bound);
            }
            TcpListener.Guest guest = groups.get(hello.member().group());
            if (guest == null) {
                // data connections come from peers of a joined group only: it has been here and is closed
                throw new Refusal(
                        hello.kind() == Hello.Kind.DATA ? Code.PEER_LOST : Code.RENDEZVOUS,
                        "the group that rank " + hello.member().rank() + " of "
                                + hello.member().worldSize() + " wants is not joined at " + Addresses.text(bound)
                                + " (any more): was it closed, or joined under another name");
            }
            return guest;
        }
    }
}

package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
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
    private final AddressChoice address;
    private final LongSupplier clock;
    private final List<Runnable> closings = new CopyOnWriteArrayList<>();
    private final Set<Long> instances = ConcurrentHashMap.newKeySet();
    private volatile StoreService served;
    /** By name of the group: those that are joined at once end at different times. */
    private final Map<String, JoinWatch> joins = new ConcurrentHashMap<>();
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
            bound = bind(plan);
        } catch (Refusal refusal) {
            loop.close();
            throw refusal.failure(plan.where, "rank " + plan.where.rank() + " of \"" + plan.where.group() + "\"");
        }
        address = plan.address;
    }

    /** Binds the first port that is free. */
    private InetSocketAddress bind(Plan plan) throws Refusal {
        int[] ports = plan.ports.ports();
        IOException last = null;
        for (int port : ports) {
            try {
                return listener.bind(io, loop, new InetSocketAddress(plan.address.bind(), port));
            } catch (IOException taken) {
                last = taken;
            }
        }
        throw plan.ports.noneFree(plan.address.bind(), last);
    }

    /**
     * Uses the port, binding it first where this is the first use; given back by {@code context.release}.
     *
     * @throws FerroException RENDEZVOUS if it cannot be bound, UNAUTHENTICATED if the secret cannot be read, or is missing
     *     where one is needed, RESOURCE without memory or descriptors
     */
    static TcpPort use(GroupSpec group, RankContext context, long deadlineNanos) {
        // opening the store has bound it, where the context has no store of its own
        return context.find(TcpPort.class)
                .orElseGet(() -> use(group, context, Rendezvous.find(group, context), false, deadlineNanos));
    }

    /** Uses the port of the rank that serves the store: it must be the one that all others know. */
    static TcpPort serving(Rendezvous meeting, GroupSpec group, RankContext context, long deadlineNanos) {
        TcpPort port = use(group, context, Optional.of(meeting), true, deadlineNanos);
        if (meeting.port() > 0 && port.bound.getPort() != meeting.port()) {
            context.release(TcpPort.class);
            throw new FerroException(
                    Code.RENDEZVOUS,
                    Where.outside(group.name(), group.rank()),
                    "rank " + group.rank() + " of \"" + group.name() + "\" must serve the store at port "
                            + meeting.port() + ", but its one port is " + port.bound.getPort() + " already");
        }
        port.serve(group);
        return port;
    }

    /** Uses the port to reach the store of a meeting. */
    static TcpPort use(Rendezvous meeting, GroupSpec group, RankContext context, long deadlineNanos) {
        return use(group, context, Optional.of(meeting), false, deadlineNanos);
    }

    private static TcpPort use(
            GroupSpec group, RankContext context, Optional<Rendezvous> known, boolean serving, long deadlineNanos) {
        Where where = Where.outside(group.name(), group.rank());
        InetAddress meeting = known.map(store -> Addresses.resolved(store.host(), deadlineNanos, context, where))
                .orElseGet(InetAddress::getLoopbackAddress);
        int store = known.map(Rendezvous::port).orElse(0);
        PortChoice ports = PortChoice.of(context, store, serving && store > 0);
        Optional<Secret> told = known.flatMap(Rendezvous::secret);
        AddressChoice.Meeting near = new AddressChoice.Meeting(meeting, serving, "");
        return context.shared(TcpPort.class, () -> open(plan(where, context, told, ports, near), context));
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

    private static Plan plan(
            Where where, RankContext context, Optional<Secret> told, PortChoice ports, AddressChoice.Meeting meeting) {
        AddressChoice address = AddressChoice.of(context, where, meeting, LocalInterface::all);
        Credentials own = credentials(where, context, told);
        checkOpen(address.bind(), own.secret(), where);
        return new Plan(where, address, ports, own);
    }

    private static Credentials credentials(Where where, RankContext context, Optional<Secret> told) {
        boolean launchers = Settings.STORE_SERVED.of(context);
        Secret secret = told.or(() ->
                        Settings.SECRET_FILE.find(context).map(file -> Secret.read(Path.of(file), launchers, where)))
                .orElseGet(Secret::none);
        return new Credentials(Settings.JOB_ID.of(context), secret, new SecureRandom());
    }

    /** Without a secret that cannot be guessed nobody from another machine may come in. */
    static void checkOpen(InetAddress bind, Secret secret, Where where) {
        int random = secret.randomBytes();
        if (bind.isLoopbackAddress() || random >= SecretFile.LEAST_RANDOM_BYTES) {
            return;
        }
        String has = secret.present()
                ? " with a secret of " + random + " random bytes at most: need " + SecretFile.LEAST_RANDOM_BYTES
                        + " (32 hexadecimal digits), ferro secret FILE makes one;"
                : " without a secret:";
        throw new FerroException(
                Code.UNAUTHENTICATED,
                where,
                "rank " + where.rank() + " of \"" + where.group() + "\" cannot listen on " + bind.getHostAddress() + has
                        + " give all ranks the same FERRO_SECRET_FILE, or bind loopback (ferro.tcp.bind=127.0.0.1)");
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
        return address.advertise();
    }

    /** The address of this machine by which the others come, unless something stands between. */
    InetAddress reachable() {
        return address.reachable();
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

    private synchronized void serve(GroupSpec group) {
        joins.compute(
                group.name(),
                (name, last) ->
                        last == null || last.allJoined().toCompletableFuture().isDone()
                                ? new JoinWatch(name, group.worldSize())
                                : last);
        if (served == null) {
            served = new StoreService((key, value) -> joins.values().forEach(watch -> watch.set(key, value)));
        }
    }

    /** Completes, on the loop, when all ranks of a group have joined by the store that is served here. */
    CompletionStage<Void> allJoined(String group) {
        return joins.get(group).allJoined();
    }

    /** Has something done when the port is closed. */
    void atClose(Runnable task) {
        closings.add(task);
    }

    /** What this process proves to others. */
    Secret secret() {
        return own.secret();
    }

    /** Notes that a place in a roster was asked for by this process. */
    void asksFor(long instance) {
        instances.add(instance);
    }

    boolean hasAskedFor(long instance) {
        return instances.contains(instance);
    }

    @Override
    public void close() {
        listener.close();
        StoreService ended = served;
        if (ended != null) {
            loop.run(ended::close);
        }
        loop.close();
        closings.forEach(Runnable::run);
    }

    /** What to bind and to tell. */
    private record Plan(Where where, AddressChoice address, PortChoice ports, Credentials own) {}

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

package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressChoice;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.Credentials;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.LocalInterface;
import ferro.backend.tcp.net.NettyModules;
import ferro.backend.tcp.net.PortCandidates;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TcpDialer;
import ferro.backend.tcp.net.TcpListener;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.backend.tcp.net.UnauthenticatedPeerLog;
import ferro.spi.GroupSpec;
import ferro.spi.OnceRegistry;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A rank's listening port and background loop. All groups of the rank share port and loop, and the last group closes
 * them.
 */
public final class TcpPort implements AutoCloseable {
    private final BackgroundLoop loop;
    private final SocketConfig io;
    private final Credentials own;
    private final TcpListener listener;
    private final TcpDialer dialer;
    private final Map<Long, TcpListener.ConnectionReceiver> groups = new ConcurrentHashMap<>();
    private final InetSocketAddress bound;
    private final AddressChoice address;
    private final LongSupplier clock;
    private final List<Runnable> closings = new CopyOnWriteArrayList<>();
    private final Set<Long> instances = ConcurrentHashMap.newKeySet();
    private volatile StoreService served;
    /**
     * For each group name, the detector that reports when all ranks have joined. Groups that join at the same time
     * complete at different times.
     */
    private final Map<String, JoinDetector> joins = new ConcurrentHashMap<>();
    /** Addresses of stores whose connection to this process was lost. */
    private final Set<InetSocketAddress> lostStores = ConcurrentHashMap.newKeySet();

    private TcpPort(PortPlan plan, RankContext context) {
        io = SocketConfig.of(context);
        clock = context::nanoTime;
        own = plan.own;
        loop = new BackgroundLoop(io, "ferro-" + plan.where.group() + "-" + plan.where.rank() + "-net");
        UnauthenticatedPeerLog strangers = new UnauthenticatedPeerLog(PlainLoggers.logger("ferro.tcp"), clock);
        listener = new TcpListener(own, new ConnectionRouter(), strangers);
        dialer = new TcpDialer(io, loop.group(), own, clock);
        try {
            prepareKey(plan);
            // the store is served before the port is bound, because a rank may connect to the store as soon as the port
            // is bound
            if (plan.serves.isPresent()) {
                serve(plan.serves.get());
            }
            bound = bind(plan);
        } catch (Refusal refusal) {
            loop.close();
            throw refusal.failure(plan.where, "rank " + plan.where.rank() + " of \"" + plan.where.group() + "\"");
        }
        address = plan.address;
    }

    private void prepareKey(PortPlan plan) throws Refusal {
        try {
            own.tls().prepare(!plan.address.bind().isLoopbackAddress());
        } catch (IllegalStateException missing) {
            throw new Refusal(Code.RESOURCE, missing.getMessage() + ", which ferro.tls needs");
        }
    }

    /** Binds the first free port of a plan. */
    private InetSocketAddress bind(PortPlan plan) throws Refusal {
        InetAddress local = plan.address.bind();
        try {
            return plan.ports.firstFree(port -> listener.bind(io, loop, new InetSocketAddress(local, port)));
        } catch (IOException taken) {
            throw plan.ports.noneFree(local, taken);
        }
    }

    /**
     * Returns the port of a rank. The first call binds the port, and {@code context.release} releases it.
     *
     * @throws FerroException RENDEZVOUS if the port cannot be bound; UNAUTHENTICATED if the secret cannot be read, or
     *     if a required secret is missing; RESOURCE if memory or descriptors are exhausted
     */
    public static TcpPort use(GroupSpec group, RankContext context, long deadlineNanos) {
        // the port was bound when the store was opened, unless the context has a store of its own
        Optional<TcpPort> bound = context.find(TcpPort.class);
        return bound.isPresent()
                ? bound.get()
                : use(group, context, Rendezvous.find(group, context), false, deadlineNanos);
    }

    /** Returns the port of the rank that serves the store, which must be the port that all other ranks use. */
    static TcpPort serving(Rendezvous meeting, GroupSpec group, RankContext context, long deadlineNanos) {
        TcpPort port = use(group, context, Optional.of(meeting), true, deadlineNanos);
        if (meeting.port() > 0 && port.bound.getPort() != meeting.port()) {
            context.release(TcpPort.class);
            throw new FerroException(
                    Code.RENDEZVOUS,
                    Where.of(group.name(), group.rank()),
                    "rank " + group.rank() + " of \"" + group.name() + "\" must serve the store at port "
                            + meeting.port() + ", but it already listens at its only port " + port.bound.getPort());
        }
        port.serve(group);
        return port;
    }

    /** Returns the port for a connection to the store of a rendezvous. */
    static TcpPort use(Rendezvous meeting, GroupSpec group, RankContext context, long deadlineNanos) {
        return use(group, context, Optional.of(meeting), false, deadlineNanos);
    }

    private static TcpPort use(
            GroupSpec group, RankContext context, Optional<Rendezvous> known, boolean serving, long deadlineNanos) {
        Where where = Where.of(group.name(), group.rank());
        // loopback is the default without a rendezvous; if another process serves the store, the rendezvous names its
        // host
        InetAddress meeting = InetAddress.getLoopbackAddress();
        int store = 0;
        Optional<Secret> told = Optional.empty();
        if (known.isPresent()) {
            String host = StoreHostResolver.host(known.get().host(), group, context);
            meeting = AddressLookup.resolved(host, deadlineNanos, context, where);
            store = known.get().port();
            told = known.get().secret();
        }
        PortCandidates ports = PortCandidates.of(context, store, serving && store > 0);
        AddressChoice.StoreLocation near = new AddressChoice.StoreLocation(meeting, serving, "");
        Optional<Secret> secret = told;
        Optional<GroupSpec> serves = serving ? Optional.of(group) : Optional.empty();
        return context.shared(TcpPort.class, new Supplier<>() {
            @Override
            public TcpPort get() {
                return open(plan(where, context, secret, ports, near, serves), context);
            }
        });
    }

    private static TcpPort open(PortPlan plan, RankContext context) {
        warn(NettyModules.mixed(), context);
        try {
            TcpPort port = new TcpPort(plan, context);
            if (Settings.LOCAL_RANK.find(context).orElse(0) == 0) {
                warn(port.io.lacking(context), context);
            }
            return port;
        } catch (OutOfMemoryError | IllegalStateException | ChannelException unable) {
            throw new FerroException(
                    Code.RESOURCE,
                    plan.where,
                    "rank " + plan.where.rank() + " of \"" + plan.where.group()
                            + "\" cannot open its port, because memory or file descriptors ran out: "
                            + unable.getMessage(),
                    unable);
        }
    }

    private static void warn(Optional<String> text, RankContext context) {
        if (text.isPresent() && OnceRegistry.isFirst(context, text.get())) {
            PlainLoggers.write("ferro.join", Level.WARNING, text.get());
        }
    }

    private static PortPlan plan(
            Where where,
            RankContext context,
            Optional<Secret> told,
            PortCandidates ports,
            AddressChoice.StoreLocation meeting,
            Optional<GroupSpec> serves) {
        AddressChoice address = AddressChoice.of(context, where, meeting, LocalInterface::all);
        Credentials own = credentials(where, context, told);
        checkOpen(address.bind(), own.secret(), where);
        return new PortPlan(where, address, ports, own, serves);
    }

    private static Credentials credentials(Where where, RankContext context, Optional<Secret> told) {
        Secret secret = told.isPresent() ? told.get() : Secret.of(context, where);
        TlsPolicy tls = TlsPolicy.of(context, secret, where);
        return new Credentials(Settings.JOB_ID.of(context), secret, new SecureRandom(), tls);
    }

    /**
     * Throws if other hosts can reach the address, and the secret has too few random bytes to be safe against guessing.
     */
    public static void checkOpen(InetAddress bind, Secret secret, Where where) {
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

    /** Returns the options with which sockets are created. */
    public SocketConfig io() {
        return io;
    }

    /** Returns which connections of this process are encrypted. */
    public TlsPolicy tls() {
        return own.tls();
    }

    /** Returns the background loop, which always runs. */
    public BackgroundLoop loop() {
        return loop;
    }

    /** Returns the time of the context's clock in nanoseconds. */
    public long now() {
        return clock.getAsLong();
    }

    /** Returns the dialer, which connects to other ranks. */
    public TcpDialer dialer() {
        return dialer;
    }

    /** Returns the address at which this rank listens. */
    public InetSocketAddress bound() {
        return bound;
    }

    /** Returns the host that is published to other ranks. */
    public String advertised() {
        return address.advertise();
    }

    /** Returns the address of this host to which the other ranks connect if no proxy or NAT is in between. */
    public InetAddress reachable() {
        return address.reachable();
    }

    /** Registers the receiver of a group's connections. */
    public void enter(long group, int worldSize, TcpListener.ConnectionReceiver guest) {
        listener.expectRanks(worldSize);
        groups.put(group, guest);
    }

    /** Removes a group. Later connections for this group are refused. */
    public void leave(long group) {
        groups.remove(group);
    }

    /** Notifies all groups of the resource that this process lacks to accept a connection; called on the loop. */
    public void notAccepted(String lacking) {
        for (TcpListener.ConnectionReceiver group : groups.values()) {
            group.notAccepted(lacking);
        }
    }

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

    /** Returns whether this process serves the store. */
    public boolean servesStore() {
        return served != null;
    }

    private synchronized void serve(GroupSpec group) {
        joins.compute(
                group.name(),
                (name, last) ->
                        last == null || last.allJoined().toCompletableFuture().isDone()
                                ? new JoinDetector(name, group.worldSize())
                                : last);
        if (served == null) {
            served = new StoreService((key, value) -> joins.values().forEach(watch -> watch.set(key, value)));
        }
    }

    /**
     * Returns a stage that completes when all ranks of a group have joined through the store that this process serves.
     * The stage completes on the loop.
     */
    CompletionStage<Void> allJoined(String group) {
        return joins.get(group).allJoined();
    }

    void atClose(Runnable task) {
        closings.add(task);
    }

    /** Returns the secret with which this process makes its proofs. */
    Secret secret() {
        return own.secret();
    }

    /** Records that this process has requested a slot in a roster. */
    public void asksFor(long instance) {
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
        for (Runnable closing : closings) {
            closing.run();
        }
    }

    /**
     * The addresses and ports to bind and publish. If this rank serves the store, {@code serves} is the group that
     * joins through the store.
     */
    private record PortPlan(
            Where where, AddressChoice address, PortCandidates ports, Credentials own, Optional<GroupSpec> serves) {}

    private final class ConnectionRouter implements TcpListener.ConnectionReceiver {
        @Override
        public void admit(Hello hello, Channel channel) throws Refusal {
            owner(hello, channel).admit(hello, channel);
        }

        @Override
        public void entered(Hello hello, Channel channel) {
            try {
                owner(hello, channel).entered(hello, channel);
            } catch (Refusal left) {
                channel.close();
            }
        }

        @Override
        public void refused(Hello hello, SocketAddress from, Refusal refusal) {
            TcpListener.ConnectionReceiver guest = hello == null || !hello.job().equals(own.job())
                    ? null
                    : groups.get(hello.member().group());
            if (guest != null) {
                guest.refused(hello, from, refusal);
            }
        }

        @Override
        public void broken(Hello hello, LinkageError cause) {
            TcpListener.ConnectionReceiver guest = groups.get(hello.member().group());
            if (guest != null) {
                guest.broken(hello, cause);
            }
        }

        @Override
        public void notAccepted(String lacking) {
            TcpPort.this.notAccepted(lacking);
        }

        private TcpListener.ConnectionReceiver owner(Hello hello, Channel channel) throws Refusal {
            // a connection can arrive before the constructor has set the bound address
            InetSocketAddress at = (InetSocketAddress) channel.localAddress();
            if (hello.kind() == Hello.ConnectionKind.STORE) {
                return StoreConnectionReceiver.of(served, at);
            }
            TcpListener.ConnectionReceiver guest = groups.get(hello.member().group());
            if (guest == null) {
                // only peers of a joined group open data connections, so this rank had joined the group and has closed
                // it
                throw new Refusal(
                        hello.kind() == Hello.ConnectionKind.DATA ? Code.PEER_LOST : Code.RENDEZVOUS,
                        "the group that rank " + hello.member().rank() + " of "
                                + hello.member().worldSize() + " wants is not joined at " + AddressLookup.text(at)
                                + " now: was it closed, or joined under another name?");
            }
            return guest;
        }
    }
}

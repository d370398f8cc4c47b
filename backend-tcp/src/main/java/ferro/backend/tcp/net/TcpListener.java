package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A listening socket. The listener closes a connection if no valid proof arrives within five seconds, or within the
 * longer time that its hello requests. The number of connections that are in a handshake is limited. Connections that
 * have sent nothing valid are closed first.
 *
 * <p>The {@link ConnectionReceiver} receives a connection when the connecting side has confirmed the connection. The
 * confirmation has no time limit. A connecting side that has sent the confirmation uses the connection. A connecting
 * side that has not sent the confirmation will close the connection.
 */
public final class TcpListener implements AutoCloseable {
    static final long HANDSHAKE_MILLIS = 5_000;
    /** Longest time limit for a connecting side whose hello asks for more time. */
    static final long LONGEST_HANDSHAKE_MILLIS = 40_000;
    /**
     * If a timer fires later than due by this time, the loop did not run. In this case the delay is added to the time
     * limit.
     */
    private static final long HELD_UP_NANOS = 100_000_000;

    static final int FEWEST_PENDING = 64;
    static final int PENDING_PER_RANK = 4;

    private static final int BACKLOG = 1024;

    private final Credentials own;
    private final ConnectionReceiver guests;
    private final UnauthenticatedPeerLog strangers;
    /** The accepted connections in their handshake, in order of arrival; used on the loop only. */
    private final Map<Channel, AcceptingHandshake> pending = new LinkedHashMap<>();
    /**
     * Connections that were admitted and not confirmed yet. Their number is not limited. The peers may already use
     * these connections.
     */
    private final Set<Channel> letIn = new HashSet<>();

    private volatile int mostPending = FEWEST_PENDING;
    private BackgroundLoop loop;
    private volatile SocketConfig sockets = SocketConfig.standard();
    private Channel server;

    /** Creates a listener. {@code guests} receives each connection after its handshake. */
    public TcpListener(Credentials own, ConnectionReceiver guests, UnauthenticatedPeerLog strangers) {
        this.own = own;
        this.guests = guests;
        this.strangers = strangers;
    }

    /** Raises the limit on simultaneous handshakes, so that all ranks of a group can connect at the same time. */
    public void expectRanks(int worldSize) {
        mostPending = Math.max(mostPending, PENDING_PER_RANK * worldSize);
    }

    /**
     * Binds exactly this address.
     *
     * @throws IOException if the address is in use, or does not belong to this host; {@link #notBound} explains the
     *     failure
     */
    public InetSocketAddress bind(SocketConfig io, BackgroundLoop background, InetSocketAddress address)
            throws IOException {
        loop = background;
        sockets = io;
        ChannelFuture bound = NettyCaller.call(() -> bootstrap(io).bind(address).awaitUninterruptibly());
        if (!bound.isSuccess()) {
            throw new IOException(bound.cause().getMessage(), bound.cause());
        }
        server = bound.channel();
        return (InetSocketAddress) server.localAddress();
    }

    private ServerBootstrap bootstrap(SocketConfig io) {
        return new ServerBootstrap()
                .group(loop.group())
                .channel(io.serverChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .handler(new PauseHandler(strangers, guests::notAccepted))
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        try {
                            io.keepAlive(channel);
                            accept(channel);
                        } catch (LinkageError broken) {
                            HandshakeHandler.refuse(channel, refusal(broken));
                        }
                    }
                });
    }

    /**
     * Returns a refusal. Its text names the process that uses the port, or says that the address does not belong to
     * this host. Called only after the last attempt to bind, because this method searches all processes.
     */
    public static Refusal notBound(InetSocketAddress address, IOException cause) {
        boolean isElsewhere = AddressLookup.isElsewhere(address.getAddress());
        String holders = isElsewhere ? "" : PortHolderFinder.of(address.getAddress(), new int[] {address.getPort()});
        String unheld = isElsewhere ? "the address does not belong to this machine" : "another job may hold the port";
        return new Refusal(
                Code.RENDEZVOUS,
                "cannot listen on " + AddressLookup.text(address) + " (" + cause.getMessage() + "): "
                        + (holders.isEmpty() ? unheld : "it is held: " + holders));
    }

    /** Starts the handshake of an accepted connection; called on the loop. */
    void accept(Channel channel) {
        channel.config().setRecvByteBufAllocator(new SwitchableReadAllocator(ExactReader.nothing()));
        AcceptingHandshake side = new AcceptingHandshake(own, hello -> guests.admit(hello, channel), isLocal(channel));
        AcceptHandler accepted = new AcceptHandler(channel, side);
        accepted.limit(TimeUnit.MILLISECONDS.toNanos(accepted.grantedMillis));
        channel.pipeline().addLast(new HandshakeHandler(side, accepted));
        add(channel, side);
        channel.closeFuture().addListener(new ChannelFutureListener() {
            @Override
            public void operationComplete(ChannelFuture closed) {
                accepted.timer.cancel(false);
                forget(channel);
            }
        });
    }

    private void forget(Channel channel) {
        pending.remove(channel);
        letIn.remove(channel);
    }

    /**
     * Adds a connection. If more than {@link #mostPending} connections are in a handshake, closes the oldest connection
     * that has sent nothing valid. If, in this case, more than half of the limit are silent connections of one remote
     * address, closes the oldest of these. Therefore a remote address that connects endlessly displaces its own
     * connections, and leaves half of the limit to other addresses.
     */
    private void add(Channel channel, AcceptingHandshake side) {
        pending.put(channel, side);
        if (pending.size() > mostPending) {
            Channel leaves = leaving(crowd(mostPending / 2));
            pending.remove(leaves);
            leaves.close();
        }
    }

    /** Returns the remote address whose silent connections are more than half of the limit. */
    private Optional<Object> crowd(int half) {
        Map<Object, Integer> silent = new HashMap<>();
        for (Map.Entry<Channel, AcceptingHandshake> each : pending.entrySet()) {
            if (!each.getValue().spoken() && silent.merge(from(each.getKey()), 1, Integer::sum) > half) {
                return Optional.of(from(each.getKey()));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the oldest silent connection of the given address, or of all addresses if none is given. Without a silent
     * connection, returns the oldest connection.
     */
    private Channel leaving(Optional<Object> crowd) {
        return pending.entrySet().stream()
                .filter(each -> !each.getValue().spoken())
                .map(Map.Entry::getKey)
                .filter(channel -> crowd.isEmpty() || crowd.get().equals(from(channel)))
                .findFirst()
                .orElseGet(() -> pending.keySet().iterator().next());
    }

    /** Returns the remote address of a connection, without its port. */
    private static Object from(Channel channel) {
        SocketAddress remote = channel.remoteAddress();
        return remote instanceof InetSocketAddress there ? there.getAddress() : String.valueOf(remote);
    }

    /** Returns whether both ends of a channel are on this host; true for a channel without a network address. */
    private static boolean isLocal(Channel channel) {
        return !(channel.localAddress() instanceof InetSocketAddress here)
                || !(channel.remoteAddress() instanceof InetSocketAddress there)
                || TlsPolicy.isWithin(here.getAddress(), there.getAddress());
    }

    /**
     * Stops listening and closes the connections that are in a handshake. Does not close connections whose handshake is
     * complete.
     */
    @Override
    public void close() {
        if (server != null) {
            server.close();
            loop.run(() -> {
                List.copyOf(pending.keySet()).forEach(Channel::close);
                Set.copyOf(letIn).forEach(Channel::close);
            });
        }
    }

    /** The receiver of the events of an accepted connection's handshake. */
    private final class AcceptHandler implements HandshakeHandler.HandshakeListener {
        private final Channel channel;
        private final AcceptingHandshake side;
        private ScheduledFuture<?> timer;
        /** The time at which the timer is due, on the clock of the loop. */
        private long due;
        /** Time limit for the proof, in milliseconds from the acceptance of the connection. */
        private long grantedMillis = HANDSHAKE_MILLIS;

        AcceptHandler(Channel channel, AcceptingHandshake side) {
            this.channel = channel;
            this.side = side;
        }

        void limit(long nanos) {
            due = channel.eventLoop().ticker().nanoTime() + nanos;
            timer = channel.eventLoop().schedule(this::expired, nanos, TimeUnit.NANOSECONDS);
        }

        /**
         * Closes the connection after the time limit. If this loop has not run for some time, or the hello has asked
         * for more time, extends the limit instead.
         */
        private void expired() {
            long asked = side.hello() == null ? 0 : side.hello().attempt().answerLimitMillis();
            long more = Math.min(asked, LONGEST_HANDSHAKE_MILLIS) - grantedMillis;
            long late = channel.eventLoop().ticker().nanoTime() - due;
            if (late >= HELD_UP_NANOS) {
                limit(late);
            } else if (more > 0) {
                grantedMillis += more;
                limit(TimeUnit.MILLISECONDS.toNanos(more));
            } else if (pending.containsKey(channel) && side.wanted() == 0) {
                // during the TLS handshake the peer would not understand a refusal
                channel.close();
            } else if (pending.containsKey(channel)) {
                String text = "the handshake did not end within " + grantedMillis + " ms";
                HandshakeHandler.refuse(channel, Refusal.late(text));
            }
        }

        @Override
        public void letIn(Channel proved) {
            timer.cancel(false);
            pending.remove(channel);
            letIn.add(channel);
        }

        @Override
        public void done(Channel proved) {
            forget(channel);
            if (side.hello().kind() != Hello.ConnectionKind.DATA) {
                sockets.limitBackoff(channel);
            }
            try {
                guests.entered(side.hello(), channel);
            } catch (LinkageError broken) {
                channel.close();
                guests.broken(side.hello(), broken);
            }
        }

        @Override
        public void refused(Channel proved, Refusal refusal) {
            // a peer that was refused only because its group has ended or its attempt was late is authenticated, so
            // nothing is logged
            if (refusal.code() != Code.PEER_LOST && !refusal.isLate()) {
                strangers.refused(channel.remoteAddress(), refusal);
            }
            guests.refused(side.said(), channel.remoteAddress(), refusal);
            if (side.wanted() == 0) {
                // during the TLS handshake, a TLS alert has already sent the reason
                channel.close();
            } else {
                HandshakeHandler.refuse(channel, refusal);
            }
        }

        @Override
        public void stranger(Channel unknown, byte[] bytes, int length) {
            strangers.seen(channel.remoteAddress(), bytes, length);
            channel.close();
        }

        @Override
        public void ended(Channel broken, Throwable cause) {
            if (cause instanceof OutOfMemoryError) {
                String text = "no memory for a connection: " + cause.getMessage();
                HandshakeHandler.refuse(channel, new Refusal(Code.RESOURCE, text));
                return;
            }
            if (cause instanceof LinkageError unloadable) {
                broken(unloadable);
                return;
            }
            channel.close();
        }

        /**
         * Sends a refusal, so that the peer stops its attempts. If the peer has sent all messages of the handshake,
         * also notifies {@code guests}.
         */
        private void broken(LinkageError cause) {
            if (side.wanted() == 0) {
                guests.broken(side.hello(), cause);
            }
            HandshakeHandler.refuse(channel, refusal(cause));
        }
    }

    private static Refusal refusal(LinkageError broken) {
        return new Refusal(Code.ABORTED, "the accepting side failed with " + broken);
    }

    /** The receiver of authenticated connections; called on the loop. */
    public interface ConnectionReceiver {
        /**
         * Admits or refuses a side whose proof was correct. State that an implementation stores about the side must be
         * removed when the channel closes.
         *
         * @throws Refusal if the side does not belong to the receiver's group or job
         */
        void admit(Hello hello, Channel channel) throws Refusal;

        /** Takes over an authenticated connection. The pipeline of the channel is empty and no read is active. */
        void entered(Hello hello, Channel channel);

        /**
         * Is notified that a side was refused. The hello is null if no hello has arrived. The hello may name another
         * job.
         */
        default void refused(Hello hello, SocketAddress from, Refusal refusal) {}

        /** Is notified that an authenticated connection was closed because of an error of this process. */
        default void broken(Hello hello, LinkageError cause) {}

        /**
         * Is notified that this process cannot accept a connection because it lacks a resource. The peer of the
         * connection is unknown.
         */
        default void notAccepted(String lacking) {}
    }

    /**
     * A handler that stops accepting for 200 ms when a connection cannot be accepted. An immediate new attempt would
     * only use processor time that running groups need. The connection waits in the kernel during the pause. If this
     * process lacks a descriptor or memory for the connection, the handler calls {@code lacking} at once.
     */
    static final class PauseHandler extends ChannelInboundHandlerAdapter {
        static final long PAUSE_MILLIS = 200;

        private final UnauthenticatedPeerLog log;
        private final Consumer<String> lacking;

        /**
         * Creates a handler. If a connection cannot be accepted for lack of a resource, {@code lacking} receives the
         * name of the resource, on the loop.
         */
        PauseHandler(UnauthenticatedPeerLog log, Consumer<String> lacking) {
            this.log = log;
            this.lacking = lacking;
        }

        @Override
        public void channelActive(ChannelHandlerContext server) {
            log.prepare();
            server.fireChannelActive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext server, Throwable cause) {
            server.channel().config().setAutoRead(false);
            server.channel()
                    .eventLoop()
                    .schedule(() -> server.channel().config().setAutoRead(true), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            ShortageDetector.of(cause).ifPresent(lacking);
            log.notAccepted(server.channel().localAddress(), cause, PAUSE_MILLIS);
        }
    }
}

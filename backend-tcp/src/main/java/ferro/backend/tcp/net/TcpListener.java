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
 * One listening socket. Every connection proves itself within five seconds or is dropped. The number of connections in a
 * handshake is limited; those that have sent nothing valid are dropped first.
 *
 * <p>A connection is handed on once the connecting side has confirmed it. The confirmation has no limit: a side that has sent it
 * uses the connection, and one that has not closes it.
 */
public final class TcpListener implements AutoCloseable {
    static final long HANDSHAKE_MILLIS = 5_000;
    /** Time for a side whose hello asks for more. */
    static final long LONGEST_HANDSHAKE_MILLIS = 40_000;
    /** From this lateness of a timer on, the loop was held up. It has served nobody in that time, which does not count. */
    private static final long HELD_UP_NANOS = 100_000_000;

    static final int FEWEST_PENDING = 64;
    static final int PENDING_PER_RANK = 4;

    private static final int BACKLOG = 1024;

    private final Credentials own;
    private final Guest guests;
    private final UnauthenticatedPeerLog strangers;
    /** The accepted connections in their handshake, in order of arrival. Only the loop uses them. */
    private final Map<Channel, AcceptingHandshake> pending = new LinkedHashMap<>();
    /** Connections that are let in and not confirmed yet: the other side may believe itself in. They take no room. */
    private final Set<Channel> letIn = new HashSet<>();

    private volatile int mostPending = FEWEST_PENDING;
    private BackgroundLoop loop;
    private volatile TcpIo sockets = TcpIo.standard();
    private Channel server;

    /** Prepares to listen; {@code guests} takes the connections whose handshake is done. */
    public TcpListener(Credentials own, Guest guests, UnauthenticatedPeerLog strangers) {
        this.own = own;
        this.guests = guests;
        this.strangers = strangers;
    }

    /** Makes room for the connections of a whole group at once. */
    public void expectRanks(int worldSize) {
        mostPending = Math.max(mostPending, PENDING_PER_RANK * worldSize);
    }

    /**
     * Binds exactly this address.
     *
     * @throws IOException if it is taken or not of this machine; {@link #notBound} explains it
     */
    public InetSocketAddress bind(TcpIo io, BackgroundLoop background, InetSocketAddress address) throws IOException {
        loop = background;
        sockets = io;
        ChannelFuture bound = OwnThread.call(() -> bootstrap(io).bind(address).awaitUninterruptibly());
        if (!bound.isSuccess()) {
            throw new IOException(bound.cause().getMessage(), bound.cause());
        }
        server = bound.channel();
        return (InetSocketAddress) server.localAddress();
    }

    private ServerBootstrap bootstrap(TcpIo io) {
        return new ServerBootstrap()
                .group(loop.group())
                .channel(io.serverChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .handler(new AcceptPause(strangers, guests::notAccepted))
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        try {
                            io.keepAlive(channel);
                            accept(channel);
                        } catch (LinkageError broken) {
                            HandshakeReader.refuse(channel, refusal(broken));
                        }
                    }
                });
    }

    /**
     * Returns which process holds the port, or that the address is not of this machine. This looks at all processes, so use it
     * only for the last attempt.
     */
    public static Refusal notBound(InetSocketAddress address, IOException cause) {
        boolean isElsewhere = Addresses.isElsewhere(address.getAddress());
        String holders = isElsewhere ? "" : PortHolders.of(address.getAddress(), new int[] {address.getPort()});
        String unheld = isElsewhere ? "the address does not belong to this machine" : "another job may hold the port";
        return new Refusal(
                Code.RENDEZVOUS,
                "cannot listen on " + Addresses.text(address) + " (" + cause.getMessage() + "): "
                        + (holders.isEmpty() ? unheld : "it is held: " + holders));
    }

    /** Starts the handshake of a connection that was accepted; on the loop. */
    void accept(Channel channel) {
        channel.config().setRecvByteBufAllocator(new SwitchedReads(ExactReader.nothing()));
        AcceptingHandshake side = new AcceptingHandshake(own, hello -> guests.admit(hello, channel), isLocal(channel));
        Accepted accepted = new Accepted(channel, side);
        accepted.limit(TimeUnit.MILLISECONDS.toNanos(accepted.grantedMillis));
        channel.pipeline().addLast(new HandshakeReader(side, accepted));
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
     * Adds a connection. If more than {@link #mostPending} are in their handshake then, one is closed: the oldest that has sent
     * nothing valid, of the address that has more than half of these, if there is one. An address that connects without
     * end pushes out its own connections, and the others have at least half of the room.
     */
    private void add(Channel channel, AcceptingHandshake side) {
        pending.put(channel, side);
        if (pending.size() > mostPending) {
            Channel leaves = leaving(crowd(mostPending / 2));
            pending.remove(leaves);
            leaves.close();
        }
    }

    /** Returns the address with more silent connections than half of the room. */
    private Optional<Object> crowd(int half) {
        Map<Object, Integer> silent = new HashMap<>();
        for (Map.Entry<Channel, AcceptingHandshake> each : pending.entrySet()) {
            if (!each.getValue().spoken() && silent.merge(from(each.getKey()), 1, Integer::sum) > half) {
                return Optional.of(from(each.getKey()));
            }
        }
        return Optional.empty();
    }

    /** Returns the oldest silent connection of an address, or of all; the oldest where all have spoken. */
    private Channel leaving(Optional<Object> crowd) {
        return pending.entrySet().stream()
                .filter(each -> !each.getValue().spoken())
                .map(Map.Entry::getKey)
                .filter(channel -> crowd.isEmpty() || crowd.get().equals(from(channel)))
                .findFirst()
                .orElseGet(() -> pending.keySet().iterator().next());
    }

    /** Returns the address that a connection comes from, without its port. */
    private static Object from(Channel channel) {
        SocketAddress remote = channel.remoteAddress();
        return remote instanceof InetSocketAddress there ? there.getAddress() : String.valueOf(remote);
    }

    /** Returns whether both ends are on this machine; those of a channel without an address of a network are. */
    private static boolean isLocal(Channel channel) {
        return !(channel.localAddress() instanceof InetSocketAddress here)
                || !(channel.remoteAddress() instanceof InetSocketAddress there)
                || TlsPolicy.isWithin(here.getAddress(), there.getAddress());
    }

    /** Stops listening and drops connections in a handshake; proved connections belong to their owners. */
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

    /** Handles the end of the handshake of an accepted connection. */
    private final class Accepted implements HandshakeReader.HandshakeEnd {
        private final Channel channel;
        private final AcceptingHandshake side;
        private ScheduledFuture<?> timer;
        /** When the timer is due, on the clock of the loop. */
        private long due;
        /** Time that it has to prove itself, from when it was accepted. */
        private long grantedMillis = HANDSHAKE_MILLIS;

        Accepted(Channel channel, AcceptingHandshake side) {
            this.channel = channel;
            this.side = side;
        }

        void limit(long nanos) {
            due = channel.eventLoop().ticker().nanoTime() + nanos;
            timer = channel.eventLoop().schedule(this::expired, nanos, TimeUnit.NANOSECONDS);
        }

        /**
         * Drops the connection, unless this loop was held up and has not listened to it for so long, or its hello has asked for
         * more time.
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
                // in the middle of TLS a refusal would not be understood
                channel.close();
            } else if (pending.containsKey(channel)) {
                String text = "the handshake did not end within " + grantedMillis + " ms";
                HandshakeReader.refuse(channel, Refusal.late(text));
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
            // a peer that is only too late, for a group or with an attempt, is no stranger
            if (refusal.code() != Code.PEER_LOST && !refusal.isLate()) {
                strangers.refused(channel.remoteAddress(), refusal);
            }
            guests.refused(side.said(), channel.remoteAddress(), refusal);
            if (side.wanted() == 0) {
                // in the middle of TLS the alert has said it
                channel.close();
            } else {
                HandshakeReader.refuse(channel, refusal);
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
                HandshakeReader.refuse(channel, new Refusal(Code.RESOURCE, text));
                return;
            }
            if (cause instanceof LinkageError unloadable) {
                broken(unloadable);
                return;
            }
            channel.close();
        }

        /** Sends a refusal to the other side, which would try again. Notifies the owner of a proved connection. */
        private void broken(LinkageError cause) {
            if (side.wanted() == 0) {
                guests.broken(side.hello(), cause);
            }
            HandshakeReader.refuse(channel, refusal(cause));
        }
    }

    private static Refusal refusal(LinkageError broken) {
        return new Refusal(Code.ABORTED, "the accepting side failed with " + broken);
    }

    /** Takes connections; called on the loop. */
    public interface Guest {
        /**
         * Decides about a side that has proved itself. What it keeps for this side must end with the channel.
         *
         * @throws Refusal if it does not belong here
         */
        void admit(Hello hello, Channel channel) throws Refusal;

        /** Takes over the connection: it is proved, its pipeline is empty, and nothing is being read. */
        void entered(Hello hello, Channel channel);

        /** Receives the refusal of a side; the hello may be of another job, and is null if none had come. */
        default void refused(Hello hello, SocketAddress from, Refusal refusal) {}

        /** Receives the error of this process for which a proved connection was closed. */
        default void broken(Hello hello, LinkageError cause) {}

        /** Receives what the process lacks to accept a connection, whose side is not known. */
        default void notAccepted(String lacking) {}
    }

    /**
     * Stops accepting for a while when a connection cannot be accepted. Asking the kernel again at once would only use processor
     * time that running groups need. The connection waits in the kernel until then; whoever waits for it is told at once if this
     * process has no descriptor or memory for it.
     */
    static final class AcceptPause extends ChannelInboundHandlerAdapter {
        static final long PAUSE_MILLIS = 200;

        private final UnauthenticatedPeerLog log;
        private final Consumer<String> lacking;

        /** Makes a handler; {@code lacking} receives, on the loop, what the process lacks for a connection. */
        AcceptPause(UnauthenticatedPeerLog log, Consumer<String> lacking) {
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
            Scarcity.of(cause).ifPresent(lacking);
            log.notAccepted(server.channel().localAddress(), cause, PAUSE_MILLIS);
        }
    }
}

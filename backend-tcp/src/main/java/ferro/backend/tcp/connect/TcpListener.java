package ferro.backend.tcp.connect;

import ferro.FerroException.Code;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * One listening socket. Every connection proves itself within five seconds or is dropped. The number of connections in a
 * handshake is limited; those that have sent nothing valid are dropped first.
 */
public final class TcpListener implements AutoCloseable {
    static final long HANDSHAKE_MILLIS = 5_000;

    static final int FEWEST_PENDING = 64;
    static final int PENDING_PER_RANK = 4;

    private static final int BACKLOG = 1024;

    private final Credentials own;
    private final Guest guests;
    private final StrangerLog strangers;
    private final PendingHandshakes pending = new PendingHandshakes();

    private volatile int mostPending = FEWEST_PENDING;
    private BackgroundLoop loop;
    private Channel server;

    /** Prepares to listen; {@code guests} takes the connections whose handshake is done. */
    public TcpListener(Credentials own, Guest guests, StrangerLog strangers) {
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
                .handler(new AcceptPause(strangers))
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        io.keepAlive(channel);
                        accept(channel);
                    }
                });
    }

    /** Returns which process holds the port. This looks at all processes, so use it only for the last attempt. */
    public static Refusal notBound(InetSocketAddress address, IOException cause) {
        String holders = PortHolders.of(address.getAddress(), new int[] {address.getPort()});
        return new Refusal(
                Code.RENDEZVOUS,
                "cannot listen on " + Addresses.text(address) + " (" + cause.getMessage() + "): "
                        + (holders.isEmpty()
                                ? "another job may hold the port, or the address is not of this machine"
                                : "it is held: " + holders));
    }

    /** Starts the handshake of a connection that was accepted; on the loop. */
    void accept(Channel channel) {
        channel.config().setRecvByteBufAllocator(new SwitchedReads(ExactReader.nothing()));
        ScheduledFuture<?> timer =
                channel.eventLoop().schedule(() -> expired(channel), HANDSHAKE_MILLIS, TimeUnit.MILLISECONDS);
        AcceptingHandshake side = new AcceptingHandshake(own, hello -> admit(hello, channel, timer), isLocal(channel));
        channel.pipeline().addLast(new HandshakeReader(side, new Accepted(side, timer)));
        pending.add(channel, side, mostPending);
        channel.closeFuture().addListener(closed -> {
            timer.cancel(false);
            pending.remove(channel);
        });
    }

    /**
     * Admits a side unless its time is over. A delayed loop reads a proof before it runs its timers, and the other side has
     * given up by then.
     */
    private void admit(Hello hello, Channel channel, Delayed timer) throws Refusal {
        if (timer.getDelay(TimeUnit.NANOSECONDS) <= 0) {
            throw HandshakeReader.late(HANDSHAKE_MILLIS);
        }
        guests.admit(hello, channel);
    }

    /** Returns whether both ends are on this machine; those of a channel without an address of a network are. */
    private static boolean isLocal(Channel channel) {
        return !(channel.localAddress() instanceof InetSocketAddress here)
                || !(channel.remoteAddress() instanceof InetSocketAddress there)
                || TlsPolicy.isWithin(here.getAddress(), there.getAddress());
    }

    private void expired(Channel channel) {
        AcceptingHandshake side = pending.of(channel);
        if (side != null && side.wanted() == 0) {
            // in the middle of TLS a refusal would not be understood
            channel.close();
        } else if (side != null) {
            HandshakeReader.refuse(channel, HandshakeReader.late(HANDSHAKE_MILLIS));
        }
    }

    /** Stops listening and drops connections in a handshake; proved connections belong to their owners. */
    @Override
    public void close() {
        if (server != null) {
            server.close();
            loop.run(pending::closeAll);
        }
    }

    /** Handles the end of the handshake of an accepted connection. */
    private final class Accepted implements HandshakeReader.HandshakeEnd {
        private final AcceptingHandshake side;
        private final Delayed timer;

        Accepted(AcceptingHandshake side, Delayed timer) {
            this.side = side;
            this.timer = timer;
        }

        @Override
        public void done(Channel channel) {
            pending.remove(channel);
            if (timer.getDelay(TimeUnit.NANOSECONDS) <= 0) {
                // TLS has come behind the proof, and the other side has given up by now
                channel.close();
                return;
            }
            if (side.hello().kind() != Hello.ConnectionKind.DATA) {
                TcpIo.limitBackoff(channel);
            }
            guests.entered(side.hello(), channel);
        }

        @Override
        public void refused(Channel channel, Refusal refusal) {
            // a peer that is only too late for a group is no stranger
            if (refusal.code() != Code.PEER_LOST) {
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
        public void stranger(Channel channel, byte[] bytes, int length) {
            strangers.seen(channel.remoteAddress(), bytes, length);
            channel.close();
        }

        @Override
        public void ended(Channel channel, Throwable cause) {
            if (cause instanceof OutOfMemoryError) {
                String text = "no memory for a connection: " + cause.getMessage();
                HandshakeReader.refuse(channel, new Refusal(Code.RESOURCE, text));
                return;
            }
            channel.close();
        }
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
    }
}

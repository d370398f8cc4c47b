package ferro.backend.tcp.link;

import ferro.FerroException;
import ferro.backend.tcp.net.SocketConfig;
import ferro.group.SystemContext;
import ferro.spi.CallHeader;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** Two links joined by one connection over loopback, without a mesh; each side has a loop that the test drives. */
public final class TcpPair implements AutoCloseable {
    /** Returns sockets of a kind. */
    public static SocketConfig io(String kind) {
        return SocketConfig.of(SystemContext.of(Map.of("ferro.tcp.io", kind)));
    }

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final int KERNEL_BYTES = 64 << 10;

    private final Side first;
    private final Side second;

    private TcpPair(Side first, Side second) {
        this.first = first;
        this.second = second;
    }

    static TcpPair onLoopback(SocketConfig io) throws Exception {
        TcpPair pair = new TcpPair(new Side(io), new Side(io));
        join(io, pair.first.links, pair.first.link, pair.second);
        return pair;
    }

    /** Joins two links by sockets with small buffers in the kernel, which the test wraps. */
    static TcpPair onLoopback(SocketConfig io, UnaryOperator<DataSocket> wrap) throws Exception {
        TcpPair pair = new TcpPair(new Side(io), new Side(io));
        Channel[] ends = connected(io);
        for (Channel end : ends) {
            end.config().setOption(ChannelOption.SO_SNDBUF, KERNEL_BYTES);
            end.config().setOption(ChannelOption.SO_RCVBUF, KERNEL_BYTES);
        }
        pair.first.link.connect(wrap.apply(pair.first.links.adopt(ends[0])), 0);
        pair.second.link.connect(wrap.apply(pair.second.links.adopt(ends[1])), 0);
        return pair;
    }

    /** Connects a link to the link of another side. */
    static void join(SocketConfig io, PolledLinks links, TcpLink link, Side other) throws Exception {
        Channel[] ends = connected(io);
        link.connect(links.adopt(ends[0]), 0);
        other.link.connect(other.links.adopt(ends[1]), 0);
    }

    /** Makes both ends of a connection as a mesh hands them over. */
    static Channel[] connected(SocketConfig io) throws Exception {
        EventLoopGroup background = new MultiThreadIoEventLoopGroup(1, io.handlers());
        try {
            BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
            Channel server = new ServerBootstrap()
                    .group(background)
                    .channel(io.serverChannel())
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void handlerAdded(io.netty.channel.ChannelHandlerContext ctx) {
                            accepted.add(ctx.channel());
                        }
                    })
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .sync()
                    .channel();
            Channel client = new Bootstrap()
                    .group(background)
                    .channel(io.channel())
                    .option(ChannelOption.AUTO_READ, false)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(server.localAddress())
                    .sync()
                    .channel();
            Channel other = accepted.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            io.dataOptions(client);
            io.dataOptions(other);
            client.deregister().sync();
            other.deregister().sync();
            server.close().sync();
            return new Channel[] {client, other};
        } finally {
            background.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    Side first() {
        return first;
    }

    Side second() {
        return second;
    }

    /** Drives both sides on this thread until something holds. */
    void driveUntil(BooleanSupplier done) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!done.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not done after " + LIMIT + ": " + first + ", " + second);
            }
            first.links.poll();
            second.links.poll();
        }
    }

    /** Drives both sides until neither has moved anything for a while. */
    void driveUntilStill() {
        long still = 0;
        while (still < 1000) {
            still = first.links.poll() | second.links.poll() ? 0 : still + 1;
        }
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }

    /** One end: what drives it, its link, and what the link told. */
    static final class Side implements LinkListener, AutoCloseable {
        final PolledLinks links;
        final TcpLink link;
        final List<FerroException> broken = new ArrayList<>();
        final List<CallHeader> expected = new ArrayList<>();
        final List<CallHeader> found = new ArrayList<>();
        /** The epochs of the connections that the link has asked for. */
        final List<Integer> asked = new ArrayList<>();

        Side(SocketConfig io) {
            links = PolledLinks.open(io, 2);
            link = new TcpLink(links, this);
        }

        @Override
        public FerroException ended(long sequence, String progress, IOException cause) {
            return new FerroException(
                    FerroException.Code.PEER_LOST, FerroException.Where.of("pair", 0), progress, cause);
        }

        /** There is no mesh that could make another connection. */
        @Override
        public boolean redial(int epoch) {
            asked.add(epoch);
            return false;
        }

        @Override
        public void resumed(int epoch, FerroException ended) {
            throw new AssertionError("resumed in epoch " + epoch);
        }

        @Override
        public FerroException redialFailed(FerroException ended, FerroException cause) {
            return cause;
        }

        @Override
        public FerroException underWay(FerroException ended, long bytesThere, long bytesHere) {
            return ended;
        }

        @Override
        public void broken(FerroException cause) {
            broken.add(cause);
        }

        @Override
        public void mismatched(CallHeader posted, CallHeader came) {
            expected.add(posted);
            found.add(came);
        }

        @Override
        public void close() {
            link.close();
            links.close();
        }

        @Override
        public String toString() {
            return link.sent() + " sent, " + link.received() + " received, " + link.bytesMoved() + " bytes, broken "
                    + broken;
        }
    }
}

package ferro.backend.tcp.mesh;

import ferro.backend.tcp.net.BackgroundLoop;
import ferro.backend.tcp.net.SwitchableReadAllocator;
import ferro.backend.tcp.net.TlsHandshakeHandler;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.HashSet;
import java.util.Set;

/**
 * The data connections of groups that this rank has left. This rank has closed its sending half of each connection.
 * This rank reads and drops the data that peers still send, until the peers close their half. Closing a socket with
 * unread bytes would reset the connection and lose data that this rank has sent. Used on the loop only.
 */
final class DrainingConnections {
    private static final int READ_BYTES = 64 << 10;

    private final BackgroundLoop loop;
    private final Set<Channel> channels = new HashSet<>();

    DrainingConnections(BackgroundLoop loop) {
        this.loop = loop;
    }

    /** Takes over a data connection that no loop polls. */
    void take(Channel channel) {
        try {
            if (channel.config().getRecvByteBufAllocator() instanceof SwitchableReadAllocator reads) {
                reads.use((io.netty.channel.RecvByteBufAllocator.ExtendedHandle)
                        new FixedRecvByteBufAllocator(READ_BYTES).newHandle());
            }
            channel.pipeline().addLast(new DiscardHandler());
            channels.add(channel);
            loop.group().register(channel).addListener((ChannelFutureListener) this::registered);
        } catch (ChannelException | IllegalStateException unable) {
            channels.remove(channel);
            TlsHandshakeHandler.closeAtOnce(channel);
        }
    }

    private void registered(io.netty.channel.ChannelFuture done) {
        Channel channel = done.channel();
        if (!done.isSuccess()) {
            channels.remove(channel);
            TlsHandshakeHandler.closeAtOnce(channel);
            return;
        }
        ((DuplexChannel) channel).shutdownOutput();
        channel.config().setAutoRead(true);
        channel.read();
    }

    /** Closes the connections that peers have not closed yet. */
    void close() {
        Set.copyOf(channels).forEach(Channel::close);
        channels.clear();
    }

    private final class DiscardHandler extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext from, Object bytes) {
            ReferenceCountUtil.release(bytes);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ended) {
            channels.remove(ended.channel());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext broken, Throwable cause) {
            broken.close();
        }
    }
}

package ferro.backend.tcp.connect;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Stops accepting for a while when the process has no descriptor left for a connection. Asking the kernel again at once
 * would only use processor time that running groups need. The connection waits in the kernel until then.
 */
final class AcceptPause extends ChannelInboundHandlerAdapter {
    static final long PAUSE_MILLIS = 200;

    private final StrangerLog log;

    AcceptPause(StrangerLog log) {
        this.log = log;
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
        log.notAccepted(server.channel().localAddress(), cause, PAUSE_MILLIS);
    }
}

package ferro.backend.tcp.connect;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Stops accepting for a while when a connection cannot be accepted. Asking the kernel again at once would only use processor
 * time that running groups need. The connection waits in the kernel until then; whoever waits for it is told at once if this
 * process has no descriptor or memory for it.
 */
final class AcceptPause extends ChannelInboundHandlerAdapter {
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

package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A handler that encrypts a connection which the background loop reads. The handler is between the socket and the
 * reader of frames. Like a socket, the handler gives the reader at most the bytes that the reader asks for.
 *
 * <p>The handler has its own memory for one frame that is being written, like a control connection. Therefore a rank
 * without free direct memory can still report its failure.
 */
public final class TlsHandler extends ChannelDuplexHandler {
    private static final int OWN_BYTES = 16 << 10;

    private final TlsSession session;
    private final SwitchableReadAllocator reads;
    private final ExactReader.ExactReadHandle socket = new ExactReader.ExactReadHandle();
    private final ByteBuf leaving = Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(OWN_BYTES));
    private final ByteBuffer opened = ByteBuffer.allocate(TlsSession.RECORD_BYTES);
    /** Whether the reader has asked for bytes and has not received all of them yet. */
    private boolean asked;

    private boolean handingOn;

    private TlsHandler(TlsSession session, SwitchableReadAllocator reads) {
        this.session = session;
        this.reads = reads;
    }

    /**
     * Encrypts the connection if the handshake agreed on TLS. Returns whether the connection is encrypted. Called on
     * the loop while the pipeline is empty.
     */
    public static boolean install(Channel channel) {
        TlsSession session = TlsHandshakeHandler.sessionOf(channel);
        if (session != null) {
            SwitchableReadAllocator reads =
                    (SwitchableReadAllocator) channel.config().getRecvByteBufAllocator();
            TlsHandler duplex = new TlsHandler(session, reads);
            reads.cover(duplex.socket);
            channel.pipeline().addLast(duplex);
        }
        return session != null;
    }

    @Override
    public void read(ChannelHandlerContext on) {
        asked = true;
        handOn(on);
    }

    @Override
    public void channelRead(ChannelHandlerContext on, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        try {
            int count = bytes.readableBytes();
            bytes.readBytes(
                    session.incoming().limit(session.incomingAt() + count).position(session.incomingAt()));
            session.came(count);
        } finally {
            bytes.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext on) {
        socket.expect(0);
        handOn(on);
    }

    /**
     * Passes decrypted bytes to the reader, as many as the reader asks for. If bytes are missing, reads from the
     * socket.
     */
    private void handOn(ChannelHandlerContext on) {
        if (handingOn) {
            return;
        }
        handingOn = true;
        try {
            while (asked && handOnOnce(on)) {
                // handOnOnce passes bytes to the reader, which sets asked again for its next frame
            }
        } catch (IOException refused) {
            asked = false;
            answer(on);
            String what = TlsSession.isAlert(refused)
                    ? "it refused a TLS record of this rank: "
                    : "TLS record " + session.records() + " was refused: ";
            on.fireExceptionCaught(new Refusal(Code.PROTOCOL, what + refused.getMessage()));
            return;
        } finally {
            handingOn = false;
        }
        answer(on);
        if (asked) {
            socket.expect(session.room());
            on.read();
        }
    }

    private boolean handOnOnce(ChannelHandlerContext on) throws IOException {
        int count = session.open(opened, 0, Math.min(reads.wanted(), opened.capacity()));
        if (session.isClosed()) {
            asked = false;
            on.close();
        }
        if (count == 0) {
            return false;
        }
        asked = false;
        on.fireChannelRead(Unpooled.wrappedBuffer(opened.array(), 0, count));
        on.fireChannelReadComplete();
        return true;
    }

    /** Writes records that the TLS engine has produced itself, for example to change keys. */
    private void answer(ChannelHandlerContext on) {
        if (session.waiting() > 0) {
            on.writeAndFlush(taken(Unpooled.directBuffer(session.waiting())));
        }
    }

    @Override
    public void write(ChannelHandlerContext on, Object message, ChannelPromise written) {
        ByteBuf bytes = (ByteBuf) message;
        ByteBuf sealed = memory(bytes.readableBytes());
        try {
            ByteBuffer source = bytes.nioBuffer();
            int at = source.position();
            do {
                at += session.seal(source, at, source.limit());
                taken(sealed);
            } while (at < source.limit());
        } catch (IOException ended) {
            sealed.release();
            written.tryFailure(ended);
            return;
        } finally {
            bytes.release();
        }
        on.write(sealed, written);
    }

    /**
     * Returns memory for the records of a frame: the handler's own memory, or new memory if the handler's memory is in
     * use or too small.
     */
    private ByteBuf memory(int bytes) {
        return leaving.refCnt() == 1 && 2 * bytes <= OWN_BYTES
                ? leaving.clear().retain()
                : Unpooled.directBuffer(bytes + (bytes >> 3) + TlsSession.RECORD_BYTES);
    }

    private ByteBuf taken(ByteBuf into) {
        int count = session.waiting();
        into.writeBytes(session.outgoing().limit(session.outgoingAt() + count).position(session.outgoingAt()));
        session.written(count);
        return into;
    }
}

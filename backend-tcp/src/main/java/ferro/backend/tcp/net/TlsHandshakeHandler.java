package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.AttributeKey;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A reader that runs the TLS handshake after the job's handshake, and then leaves the pipeline. The reader reads no
 * byte beyond the last record of the TLS handshake.
 *
 * <p>In TLS the connecting side sends the last message, and receives no reply to this message. Therefore the accepting
 * side sends one more byte, in a separate record. The connecting side answers with one byte, which confirms the
 * connection.
 */
public final class TlsHandshakeHandler extends ExactReader {
    static final AttributeKey<TlsSession> SESSION = AttributeKey.valueOf("ferro.tls.session");

    private final TlsSession session;
    private final HandshakeHandler.HandshakeListener end;
    private final ByteBuffer word = ByteBuffer.allocate(1);
    private boolean letIn;
    private boolean over;

    TlsHandshakeHandler(TlsSession session, HandshakeHandler.HandshakeListener end) {
        this.session = session;
        this.end = end;
    }

    /** Returns the TLS session of an encrypted connection; null for a plain connection. */
    public static TlsSession sessionOf(Channel channel) {
        return channel.attr(SESSION).get();
    }

    /**
     * Closes a connection that has no loop, and frees its TLS memory. Without a loop, Netty would not notify the
     * handlers of the close.
     */
    public static void closeAtOnce(Channel channel) {
        channel.unsafe().closeForcibly();
        TlsSession session = sessionOf(channel);
        if (session != null) {
            session.close();
        }
    }

    @Override
    public void begin() {
        goOn();
    }

    @Override
    public void whole(ByteBuffer bytes) {
        session.room();
        int count = bytes.remaining();
        session.incoming().put(session.incomingAt(), bytes, bytes.position(), count);
        session.came(count);
        end.heard(context().channel());
        goOn();
    }

    private void goOn() {
        try {
            if (session.shake() && isConfirmed()) {
                over = true;
                finish();
            } else if (session.isClosed()) {
                failed(null);
            } else {
                say();
                expect(session.lacking());
            }
        } catch (IOException wrong) {
            over = true;
            say();
            ended(wrong);
        }
    }

    /**
     * Reports why the handshake failed. If either side has refused a key or a certificate, the failure is final. Any
     * other failure may be caused by the network. After such a failure, the connection ends without a refusal, and the
     * connecting side tries again.
     */
    private void ended(IOException wrong) {
        boolean there = isKeyRefusedThere(wrong);
        String text = "the TLS handshake failed: "
                + (there
                        ? "the other side refused the key or the certificate of this side, and its log says " + "why: "
                        : "")
                + wrong.getMessage();
        if (session.hasRefusedKey() || there) {
            end.refused(context().channel(), new Refusal(Code.UNAUTHENTICATED, text));
        } else {
            end.ended(context().channel(), new Refusal(Code.PROTOCOL, text));
            context().close();
        }
    }

    private static boolean isKeyRefusedThere(IOException wrong) {
        return TlsSession.isAlert(wrong) && TlsSession.isOfACertificate(wrong);
    }

    /**
     * On the accepting side, admits the peer and reads its confirmation. On the connecting side, reads the admission
     * and sends the confirmation. Returns whether the confirmation was read or sent.
     */
    private boolean isConfirmed() throws IOException {
        if (session.isConnecting()) {
            return session.open(word, 0, word.capacity()) > 0 && session.seal(word, 0, word.capacity()) > 0;
        }
        if (!letIn) {
            letIn = true;
            session.seal(word, 0, word.capacity());
            say();
            end.letIn(context().channel());
        }
        return session.open(word, 0, word.capacity()) > 0;
    }

    private void finish() {
        Channel channel = context().channel();
        ByteBuf last = outgoing();
        channel.pipeline().remove(this);
        channel.attr(SESSION).set(session);
        channel.writeAndFlush(last).addListener((ChannelFutureListener) written -> {
            if (written.isSuccess()) {
                end.done(channel);
            } else {
                end.ended(channel, written.cause());
            }
        });
    }

    private void say() {
        if (session.waiting() > 0) {
            context().writeAndFlush(outgoing()).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
        }
    }

    private ByteBuf outgoing() {
        int count = session.waiting();
        ByteBuf copy = Unpooled.copiedBuffer(session.outgoing().slice(session.outgoingAt(), count));
        session.written(count);
        return copy;
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        failed(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
        failed(cause);
        caught.close();
    }

    private void failed(Throwable cause) {
        if (!over) {
            over = true;
            end.ended(context().channel(), cause);
        }
    }
}

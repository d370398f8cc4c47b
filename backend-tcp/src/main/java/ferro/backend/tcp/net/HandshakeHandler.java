package ferro.backend.tcp.net;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;

/** Runs one side of a handshake on a channel and then leaves the pipeline. */
final class HandshakeHandler extends ExactReader {
    private final Handshake side;
    private final HandshakeListener end;
    private final ChannelFutureListener freeing = closed -> free();
    private boolean over;

    HandshakeHandler(Handshake side, HandshakeListener end) {
        this.side = side;
        this.end = end;
    }

    @Override
    public void begin() {
        context().channel().closeFuture().addListener(freeing);
        say(side.opening());
        expect(side.wanted());
    }

    /**
     * Frees the memory of the TLS session. The session may exist even if the handshake ends before either side has
     * admitted the other side.
     */
    private void free() {
        TlsSession tls = side.tls();
        if (tls != null) {
            tls.close();
        }
    }

    @Override
    boolean partial(byte[] bytes, int length) {
        if (side.plausible(bytes, length)) {
            return true;
        }
        over = true;
        end.stranger(context().channel(), bytes, length);
        return false;
    }

    @Override
    public void whole(ByteBuffer bytes) {
        if (!partial(bytes.array(), bytes.remaining())) {
            return;
        }
        try {
            byte[] answer = side.take(bytes);
            end.heard(context().channel());
            if (side.wanted() > 0) {
                say(answer);
                if (side.awaitsConfirmation()) {
                    end.letIn(context().channel());
                }
                expect(side.wanted());
                return;
            }
            over = true;
            finish(answer);
        } catch (Refusal refusal) {
            over = true;
            end.refused(context().channel(), refusal);
        } catch (LinkageError broken) {
            // this handler may already have left the pipeline
            over = true;
            end.ended(context().channel(), broken);
        }
    }

    /**
     * Reports the end of the handshake after the last bytes are written, because after the report a data channel moves
     * to another loop.
     */
    private void finish(byte[] answer) {
        Channel channel = context().channel();
        TlsSession tls = side.tls();
        TlsHandshakeHandler next = tls == null ? null : new TlsHandshakeHandler(tls, end);
        channel.pipeline().remove(this);
        if (next != null) {
            if (answer.length > 0) {
                channel.write(Unpooled.wrappedBuffer(answer));
            }
            channel.pipeline().addLast(next);
            channel.flush();
            return;
        }
        channel.closeFuture().removeListener(freeing);
        if (answer.length == 0) {
            end.done(channel);
            return;
        }
        channel.writeAndFlush(Unpooled.wrappedBuffer(answer)).addListener((ChannelFutureListener) written -> {
            if (written.isSuccess()) {
                end.done(channel);
            } else {
                end.ended(channel, written.cause());
            }
        });
    }

    private void say(byte[] answer) {
        if (answer.length > 0) {
            context()
                    .writeAndFlush(Unpooled.wrappedBuffer(answer))
                    .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        failed(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
        failed(cause);
        if (!(cause instanceof OutOfMemoryError)) {
            caught.close();
        }
    }

    private void failed(Throwable cause) {
        if (!over) {
            over = true;
            end.ended(context().channel(), cause);
        }
    }

    /**
     * Sends the reason for a refusal to the peer, unless the peer has closed the connection, and closes the channel.
     */
    static void refuse(Channel channel, Refusal refusal) {
        byte[] frame = Handshake.frame(Handshake.REFUSAL, refusal.encoded());
        channel.writeAndFlush(Unpooled.wrappedBuffer(frame)).addListener(ChannelFutureListener.CLOSE);
    }

    /**
     * Is notified of the progress and of the end of a handshake, on the channel's loop. Exactly one of {@link #done},
     * {@link #refused}, {@link #stranger} and {@link #ended} is called.
     */
    interface HandshakeListener {
        /** Reports that a part of the handshake has arrived from the peer. */
        default void heard(Channel channel) {}

        /** Reports that the accepting side has admitted the connecting side and waits for its confirmation. */
        default void letIn(Channel channel) {}

        /**
         * Reports that both proofs are correct and the connecting side has confirmed the connection. The pipeline is
         * empty and no read is active.
         */
        void done(Channel channel);

        /** Reports that one side has refused the other side. The channel is still open. */
        void refused(Channel channel, Refusal refusal);

        /** Reports that the peer does not use the protocol of ferro. The channel is still open. */
        void stranger(Channel channel, byte[] bytes, int length);

        /** Reports that the connection ended before the end of the handshake. */
        void ended(Channel channel, Throwable cause);
    }
}

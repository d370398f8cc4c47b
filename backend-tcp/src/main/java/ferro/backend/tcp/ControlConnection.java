package ferro.backend.tcp;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;

/** The control connection to one peer: always being read by the background loop. */
final class ControlConnection extends ExactReader {
    private final int peer;
    private final Channel channel;
    private final Owner owner;
    private ControlFrame.Head head;
    private boolean over;

    ControlConnection(int peer, Channel channel, Owner owner) {
        this.peer = peer;
        this.channel = channel;
        this.owner = owner;
    }

    /** Sends; from any thread, in order, never waits. */
    ChannelFuture send(ControlFrame frame) {
        return channel.writeAndFlush(Unpooled.wrappedBuffer(frame.encoded()));
    }

    Channel channel() {
        return channel;
    }

    /** Bytes that the peer has not taken yet. */
    long waitingBytes() {
        var out = channel.unsafe().outboundBuffer();
        return out == null ? 0 : out.totalPendingWriteBytes();
    }

    /** Closes without telling the owner. */
    void drop() {
        over = true;
        channel.close();
    }

    @Override
    void begin() {
        expect(ControlFrame.HEAD_BYTES);
    }

    @Override
    void whole(ByteBuffer bytes) {
        try {
            if (head == null) {
                head = ControlFrame.Head.decoded(bytes);
                if (head.bytes() > 0) {
                    expect(head.bytes());
                    return;
                }
            }
            ControlFrame frame = head.withBody(bytes);
            head = null;
            owner.received(peer, frame);
            expect(ControlFrame.HEAD_BYTES);
        } catch (Refusal broken) {
            end(broken);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        end(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
        end(cause);
    }

    /** Closes and tells the owner why. */
    void end(Throwable cause) {
        if (!over) {
            over = true;
            channel.close();
            owner.ended(peer, cause);
        }
    }

    /** Who hears; on the loop. */
    interface Owner {
        /** A frame came. */
        void received(int peer, ControlFrame frame);

        /** The connection has ended; told once; null means that the peer closed it. */
        void ended(int peer, Throwable cause);
    }
}

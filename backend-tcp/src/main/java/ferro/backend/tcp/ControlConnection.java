package ferro.backend.tcp;

import ferro.FerroException.Code;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;

/** The control connection to one peer: always being read by the background loop. */
final class ControlConnection extends ExactReader {
    private final int peer;
    private final Channel channel;
    private final Owner owner;
    private final boolean checksum;
    private ControlFrame.Head head;
    private boolean over;

    ControlConnection(int peer, Channel channel, Owner owner, boolean checksum) {
        this.peer = peer;
        this.channel = channel;
        this.owner = owner;
        this.checksum = checksum;
    }

    /** Sends; from any thread, in order, never waits. */
    ChannelFuture send(ControlFrame frame) {
        return channel.writeAndFlush(Unpooled.wrappedBuffer(frame.encoded(checksum)));
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
                int following = head.bytes() + (checksum ? ControlFrame.CHECKSUM_BYTES : 0);
                if (following > 0) {
                    expect(following);
                    return;
                }
            }
            ControlFrame frame = checksum ? head.withCheckedBody(bytes) : head.withBody(bytes);
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
            if (cause instanceof Refusal refusal && refusal.code() == Code.PROTOCOL) {
                // else the peer would take this rank for dead
                send(ControlFrame.refused(refusal)).addListener(ChannelFutureListener.CLOSE);
            } else {
                channel.close();
            }
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

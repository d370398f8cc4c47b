package ferro.backend.tcp;

import ferro.FerroException.Code;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The control connection to one peer: always being read by the background loop. It has memory of its own for what it reads
 * and for one frame that leaves, so that a rank that runs out of memory can still hear and say so.
 */
final class ControlConnection extends ExactReader {
    private final int peer;
    private final Channel channel;
    private final Owner owner;
    private final boolean checksum;
    /** For one frame on its way out, whose write is not over; further ones take Netty's memory. */
    private final ByteBuf leaving = frameMemory();

    private final AtomicBoolean leavingInUse = new AtomicBoolean();
    private final ChannelFutureListener written = this::written;
    private final ChannelFutureListener writtenOfOwn = this::writtenOfOwn;
    private ControlFrame.Head head;
    private boolean over;

    ControlConnection(int peer, Channel channel, Owner owner, boolean checksum) {
        super(frameMemory());
        this.peer = peer;
        this.channel = channel;
        this.owner = owner;
        this.checksum = checksum;
    }

    /** Sends; from any thread, in order, never waits. */
    ChannelFuture send(ControlFrame frame) {
        byte[] bytes = frame.encoded(checksum);
        if (leavingInUse.compareAndSet(false, true)) {
            leaving.setBytes(0, bytes);
            return channel.writeAndFlush(leaving.retainedSlice(0, bytes.length)).addListener(writtenOfOwn);
        }
        return channel.writeAndFlush(Unpooled.wrappedBuffer(bytes)).addListener(written);
    }

    private static ByteBuf frameMemory() {
        return Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(
                ControlFrame.HEAD_BYTES + ControlFrame.MOST_BODY_BYTES + ControlFrame.CHECKSUM_BYTES));
    }

    private void writtenOfOwn(ChannelFuture write) {
        leavingInUse.set(false);
        written(write);
    }

    /** What follows a frame that is missing would be misunderstood. */
    private void written(ChannelFuture write) {
        if (!write.isSuccess() && channel.isOpen()) {
            end(write.cause());
        }
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

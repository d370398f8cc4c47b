package ferro.backend.tcp;

import ferro.FerroException.Code;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The control connection to one peer: always being read by the background loop. It has memory of its own for what it reads
 * and for the one frame that is being written; those behind it wait in the heap. So a rank that runs out of direct memory
 * can still hear and say so.
 */
final class ControlConnection extends ExactReader {
    /** What a frame that waits costs beside its bytes, about. */
    private static final int WAITING_BYTES = 128;

    private final int peer;
    private final Channel channel;
    private final Owner owner;
    private final boolean checksum;
    /** In the order in which they leave. */
    private final Queue<Waiting> frames = new ConcurrentLinkedQueue<>();
    /** Memory of {@link #frames}, and of the one that is being written. */
    private final AtomicLong waitingBytes = new AtomicLong();

    private final Runnable writeNext = this::writeNext;
    /** For the frame that is being written: Netty would copy one of the heap into direct memory that may be used up. */
    private final ByteBuf leaving = frameMemory();
    /** Whether {@link #leaving} is in use; on the loop only. */
    private boolean writing;

    private ControlFrame.Head head;
    private boolean over;

    ControlConnection(int peer, Channel channel, Owner owner, boolean checksum) {
        super(frameMemory());
        this.peer = peer;
        this.channel = channel;
        this.owner = owner;
        this.checksum = checksum;
    }

    /** A frame on its way out. */
    private record Waiting(byte[] bytes, ChannelPromise written) {
        int cost() {
            return bytes.length + WAITING_BYTES;
        }
    }

    /** Sends; from any thread, in order, never waits. */
    ChannelFuture send(ControlFrame frame) {
        Waiting last = new Waiting(frame.encoded(checksum), channel.newPromise());
        waitingBytes.addAndGet(last.cost());
        frames.add(last);
        if (channel.eventLoop().inEventLoop()) {
            writeNext();
        } else {
            try {
                channel.eventLoop().execute(writeNext);
            } catch (RejectedExecutionException ended) {
                // the loop ends after its connections: there is nobody to send to
                last.written.tryFailure(ended);
            }
        }
        return last.written;
    }

    /** Writes what waits until the socket takes no more; what it has taken is gone before the loop does anything else. */
    private void writeNext() {
        while (!writing && !frames.isEmpty()) {
            Waiting next = frames.poll();
            writing = true;
            leaving.setBytes(0, next.bytes);
            ChannelFuture write = channel.writeAndFlush(leaving.retainedSlice(0, next.bytes.length), next.written);
            if (write.isDone()) {
                written(write, next);
            } else {
                write.addListener((ChannelFutureListener) later -> {
                    written(later, next);
                    writeNext();
                });
            }
        }
    }

    /** What follows a frame that is missing would be misunderstood. */
    private void written(ChannelFuture write, Waiting frame) {
        writing = false;
        waitingBytes.addAndGet(-frame.cost());
        if (!write.isSuccess() && channel.isOpen()) {
            end(write.cause());
        }
    }

    private static ByteBuf frameMemory() {
        return Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(
                ControlFrame.HEAD_BYTES + ControlFrame.MOST_BODY_BYTES + ControlFrame.CHECKSUM_BYTES));
    }

    Channel channel() {
        return channel;
    }

    /** Memory of what the peer has not taken yet. */
    long waitingBytes() {
        return waitingBytes.get();
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

package ferro.backend.tcp.mesh;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.ExactReader;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.SwitchableReadAllocator;
import ferro.backend.tcp.net.WriteErrorClassifier;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The control connection to one peer. The background loop always reads this connection. The connection has its own
 * memory for received bytes and for the frame that is being written. Frames that wait to be written are on the Java
 * heap. Therefore a rank that runs out of direct memory can still receive frames and report the failure.
 */
final class ControlConnection extends ExactReader {
    /** Approximate memory of a waiting frame in bytes, in addition to the bytes of the frame. */
    private static final int WAITING_BYTES = 128;

    /**
     * Time between two checks of {@link #afterReading(Runnable)}. A check finds out whether a connection has read more
     * bytes.
     */
    private static final long ROUND_MILLIS = 1;
    /** Maximum number of checks of {@link #afterReading(Runnable)}, so that no task waits for ever. */
    private static final int MOST_ROUNDS = 50;
    /**
     * Maximum number of checks after a write has failed because the connection has ended. The peer then sends nothing
     * more, so only bytes in the socket's memory can still be read. A rank that was stopped may have many unread
     * frames. On a busy host a rank may read only one frame per check.
     */
    private static final int LAST_ROUNDS_LIMIT = 10_000;

    private final int peer;
    private final Channel channel;
    private final SwitchableReadAllocator reads;
    private final FrameReceiver owner;
    private final boolean checksum;
    /** Frames that wait to be written, in sending order. */
    private final Queue<QueuedFrame> frames = new ConcurrentLinkedQueue<>();
    /** Bytes of {@link #frames} and of the frame that is being written. */
    private final AtomicLong waitingBytes = new AtomicLong();

    private final Runnable writeNext = this::writeNext;
    /** Direct memory of the frame that is being written. For a heap buffer, Netty would need free direct memory. */
    private final ByteBuf leaving = frameMemory();
    /** Whether {@link #leaving} is in use; accessed on the loop only. */
    private boolean writing;
    /** The reason why a write has failed; null if no write has failed. Accessed on the loop only. */
    private Throwable unwritable;

    private ControlFrame.FrameHead head;
    private boolean over;

    ControlConnection(int peer, Channel channel, FrameReceiver owner, boolean checksum) {
        super(frameMemory());
        this.peer = peer;
        this.channel = channel;
        this.reads = (SwitchableReadAllocator) channel.config().getRecvByteBufAllocator();
        this.owner = owner;
        this.checksum = checksum;
        // with auto-close, a failed write would close the connection before the last frames of the peer are read
        channel.config().setAutoClose(false);
    }

    private record QueuedFrame(byte[] bytes, ChannelPromise written) {
        int cost() {
            return bytes.length + WAITING_BYTES;
        }
    }

    /** Sends a frame, in order and without waiting; any thread may call. */
    ChannelFuture send(ControlFrame frame) {
        QueuedFrame last = new QueuedFrame(frame.encoded(checksum), channel.newPromise());
        waitingBytes.addAndGet(last.cost());
        frames.add(last);
        if (channel.eventLoop().inEventLoop()) {
            writeNext();
        } else {
            try {
                channel.eventLoop().execute(writeNext);
            } catch (RejectedExecutionException ended) {
                // the loop ends only after its connections have ended, so this connection has already ended
                last.written.tryFailure(ended);
            }
        }
        return last.written;
    }

    /** Writes waiting frames until the socket accepts no more bytes. The loop handles nothing else during this call. */
    private void writeNext() {
        while (!writing && !frames.isEmpty()) {
            QueuedFrame next = frames.poll();
            if (unwritable != null) {
                waitingBytes.addAndGet(-next.cost());
                next.written.tryFailure(unwritable);
                continue;
            }
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

    /**
     * Handles the completion of a write. A failed write ends the connection, because the peer would misread later
     * frames. Before the connection ends, the last frames of the peer are read, because these frames may contain the
     * reason for the failure.
     */
    private void written(ChannelFuture write, QueuedFrame frame) {
        writing = false;
        waitingBytes.addAndGet(-frame.cost());
        if (!write.isSuccess() && unwritable == null) {
            unwritable = WriteErrorClassifier.reason(write.cause());
            if (channel.isOpen()) {
                int rounds = WriteErrorClassifier.isOfConnection(unwritable) ? LAST_ROUNDS_LIMIT : MOST_ROUNDS;
                afterReading(List.of(this), () -> end(unwritable), rounds);
            }
        }
    }

    private static ByteBuf frameMemory() {
        return Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(
                ControlFrame.HEAD_BYTES + ControlFrame.MOST_BODY_BYTES + ControlFrame.CHECKSUM_BYTES));
    }

    Channel channel() {
        return channel;
    }

    /** Returns the number of bytes of the frames that were not written yet. */
    long waitingBytes() {
        return waitingBytes.get();
    }

    /**
     * Runs a task when the socket has no more bytes, or the connection has ended; called on the loop. In each round,
     * the loop reads at least some bytes of every socket that has bytes. A timer that a task sets in one round fires in
     * a later round. This method may be called while the loop reads sockets. Therefore this method queues a task, and
     * this task sets the first timer. A peer that never stops sending does not delay the task for ever.
     */
    void afterReading(Runnable task) {
        afterReading(List.of(this), task);
    }

    /**
     * Runs a task like {@link #afterReading(Runnable)}, but after the bytes of several connections of one loop were
     * read. All these connections share one timer.
     */
    static void afterReading(List<ControlConnection> connections, Runnable task) {
        afterReading(connections, task, MOST_ROUNDS);
    }

    private static void afterReading(List<ControlConnection> connections, Runnable task, int rounds) {
        connections.get(0).channel.eventLoop().execute(() -> readOn(connections, task, rounds));
    }

    private static void readOn(List<ControlConnection> connections, Runnable task, int rounds) {
        long[] before = new long[connections.size()];
        for (int index = 0; index < before.length; index++) {
            before[index] = connections.get(index).reads.count();
        }
        connections
                .get(0)
                .channel
                .eventLoop()
                .schedule(
                        () -> {
                            List<ControlConnection> unread = unread(connections, before);
                            if (unread.isEmpty() || rounds == 1) {
                                task.run();
                            } else {
                                readOn(unread, task, rounds - 1);
                            }
                        },
                        ROUND_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    /** Returns the connections that have read more bytes since their numbers of reads were stored in {@code before}. */
    private static List<ControlConnection> unread(List<ControlConnection> connections, long[] before) {
        List<ControlConnection> unread = new ArrayList<>();
        for (int index = 0; index < before.length; index++) {
            ControlConnection connection = connections.get(index);
            if (!connection.over && connection.reads.count() != before[index]) {
                unread.add(connection);
            }
        }
        return unread;
    }

    /** Closes the connection without notifying the owner. */
    void drop() {
        over = true;
        channel.close();
    }

    @Override
    public void begin() {
        expect(ControlFrame.HEAD_BYTES);
    }

    @Override
    public void whole(ByteBuffer bytes) {
        try {
            if (head == null) {
                head = ControlFrame.FrameHead.decoded(bytes);
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

    /** Closes the connection. First sends goodbye if {@code inOrder} is true. The future completes after the close. */
    CompletableFuture<Void> leave(boolean inOrder) {
        CompletableFuture<Void> left = new CompletableFuture<>();
        channel.closeFuture().addListener(closed -> left.complete(null));
        if (inOrder) {
            send(ControlFrame.bare(ControlFrame.Type.GOODBYE)).addListener(said -> drop());
        } else {
            drop();
        }
        return left;
    }

    /** Closes the connection and notifies the owner of the reason. */
    void end(Throwable cause) {
        if (!over) {
            over = true;
            if (cause instanceof Refusal refusal && refusal.code() == Code.PROTOCOL) {
                // without the refusal the peer would consider this rank lost
                send(ControlFrame.refused(refusal)).addListener(ChannelFutureListener.CLOSE);
            } else {
                channel.close();
            }
            owner.ended(peer, cause);
        }
    }

    /** Receives the frames and the end of a connection, on the loop. */
    interface FrameReceiver {
        void received(int peer, ControlFrame frame);

        /** Receives the end of the connection; called once. A null cause means that the peer closed the connection. */
        void ended(int peer, Throwable cause);
    }
}

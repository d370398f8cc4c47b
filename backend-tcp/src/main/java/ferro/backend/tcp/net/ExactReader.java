package ferro.backend.tcp.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A reader that reads exactly the expected number of bytes. Later bytes stay in the socket for the next reader. The
 * memory of the reader grows with the bytes that have arrived, not with the number of expected bytes.
 *
 * <p>The channel must have auto-read off and a {@link SwitchableReadAllocator}.
 */
public abstract class ExactReader extends ChannelInboundHandlerAdapter {
    /** Maximum number of bytes that are read from the socket, or allocated, at once. */
    private static final int PIECE_BYTES = 64 * 1024;

    private final ExactReadHandle sizes = new ExactReadHandle();
    private ChannelHandlerContext context;
    private byte[] collected;
    private int count;
    private int wanted;
    private boolean reading;
    private boolean begun;

    /** Creates a reader that allocates its memory from Netty. */
    public ExactReader() {
        this(null);
    }

    /** Creates a reader that uses the given memory for all reads that fit into it. */
    public ExactReader(ByteBuf own) {
        sizes.own = own;
    }

    /** Returns a handle that reads nothing, for a channel that has no reader yet. */
    public static RecvByteBufAllocator.ExtendedHandle nothing() {
        return new ExactReadHandle();
    }

    /** Reads the next bytes and passes them to {@link #whole}. */
    public final void expect(int bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("cannot expect " + bytes + " bytes: need at least 1");
        }
        wanted = bytes;
        count = 0;
        collected = new byte[Math.min(bytes, PIECE_BYTES)];
        resume();
    }

    /** Continues to read. Called after {@link #mayRead} has returned false. */
    public final void resume() {
        if (wanted > 0 && !reading && mayRead()) {
            sizes.expect(wanted - count);
            context.read();
        }
    }

    /** Returns the context of this reader in its channel; called on the loop. */
    public final ChannelHandlerContext context() {
        return context;
    }

    /** Calls {@link #expect} for the first bytes. Called once, when the reader is in the pipeline. */
    public abstract void begin();

    /** Receives the expected bytes. An implementation may call {@link #expect} for the next bytes. */
    public abstract void whole(ByteBuffer bytes);

    /**
     * Checks the part of the expected bytes that has arrived. If an implementation returns false, the reader drops the
     * part and reads nothing more.
     */
    boolean partial(byte[] bytes, int length) {
        return true;
    }

    /** Returns whether to read now. A subclass that returns false must call {@link #resume} later. */
    public boolean mayRead() {
        return true;
    }

    @Override
    public final void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        ((SwitchableReadAllocator) added.channel().config().getRecvByteBufAllocator()).use(sizes);
        if (added.channel().isActive()) {
            try {
                beginOnce();
            } catch (LinkageError broken) {
                // without this call, Netty would remove this handler without notifying it
                exceptionCaught(added, broken);
            }
        }
    }

    @Override
    public final void channelActive(ChannelHandlerContext active) {
        beginOnce();
    }

    /**
     * Begins to read once, at the first event. An accepted channel is already active when the handler is added, and
     * later calls channelActive as well.
     */
    private void beginOnce() {
        if (!begun) {
            begun = true;
            begin();
        }
    }

    @Override
    public final void channelRead(ChannelHandlerContext read, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        reading = true;
        try {
            append(bytes);
        } finally {
            bytes.release();
        }
        if (count < wanted) {
            if (!partial(collected, count)) {
                wanted = 0;
                sizes.expect(0);
            }
            return;
        }
        ByteBuffer done = ByteBuffer.wrap(collected, 0, count);
        wanted = 0;
        collected = null;
        whole(done);
    }

    @Override
    public final void channelReadComplete(ChannelHandlerContext read) {
        reading = false;
        resume();
    }

    private void append(ByteBuf bytes) {
        int length = bytes.readableBytes();
        if (count + length > collected.length) {
            collected = Arrays.copyOf(collected, Math.min(wanted, Math.max(2 * collected.length, count + length)));
        }
        bytes.readBytes(collected, count, length);
        count += length;
    }

    /**
     * A handle that limits reads to the expected bytes. Each read lowers the limit by the bytes that were read. After
     * the end of the stream, Netty's epoll code reads until nothing arrives and ignores {@link #continueReading}.
     */
    static final class ExactReadHandle implements RecvByteBufAllocator.ExtendedHandle {
        private ByteBuf own;
        private int remaining;
        private int last;
        private int attempted;

        /** Sets how many bytes may be read until the next call of this method. */
        void expect(int bytes) {
            remaining = bytes;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            int bytes = guess();
            if (own != null && bytes <= own.capacity()) {
                return own.retainedSlice(0, bytes).writerIndex(0);
            }
            return alloc.directBuffer(bytes, bytes);
        }

        @Override
        public int guess() {
            return Math.min(remaining, PIECE_BYTES);
        }

        @Override
        public void reset(ChannelConfig config) {
            last = 0;
        }

        @Override
        public void incMessagesRead(int messages) {}

        /**
         * Ignores an end of stream while no bytes are expected. The next reader receives the end of stream, after any
         * data.
         */
        @Override
        public void lastBytesRead(int bytes) {
            last = remaining == 0 ? 0 : bytes;
            remaining -= Math.max(0, last);
        }

        @Override
        public int lastBytesRead() {
            return last;
        }

        @Override
        public void attemptedBytesRead(int bytes) {
            attempted = bytes;
        }

        @Override
        public int attemptedBytesRead() {
            return attempted;
        }

        @Override
        public boolean continueReading() {
            return false;
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier more) {
            return false;
        }

        @Override
        public void readComplete() {}
    }
}

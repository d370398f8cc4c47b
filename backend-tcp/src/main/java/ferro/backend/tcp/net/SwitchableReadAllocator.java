package ferro.backend.tcp.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/**
 * An allocator whose handle decides how much a connection reads, and into which memory. The handle can be replaced at
 * any time. Netty requests the handle of an allocator only once per channel. Without this class, a data connection
 * would still read exact numbers of bytes after its handshake.
 *
 * <p>Use: {@code ((SwitchableReadAllocator) channel.config().getRecvByteBufAllocator()).use(handle)}. Each channel has
 * its own instance. Only the thread of the channel's loop may call an instance. While the channel has no loop, any
 * thread may call the instance.
 */
public final class SwitchableReadAllocator implements RecvByteBufAllocator {
    private ExtendedHandle now;
    /**
     * If not null, the handle that reads use, while {@link #now} only returns the number of bytes that the reader
     * wants.
     */
    private ExtendedHandle under;

    private long count;

    /**
     * The handle that Netty gets. It is created before Netty requests it, because Netty would ignore an error during
     * the request.
     */
    private final ExtendedHandle asked = new SwitchableHandle();

    /** Creates an allocator with its first handle. */
    SwitchableReadAllocator(ExtendedHandle first) {
        now = first;
    }

    /** Replaces the handle. */
    public void use(ExtendedHandle handle) {
        now = handle;
    }

    /**
     * Sets a second handle, which the reads of the socket use from now on. Needed if the reader gets its bytes from
     * another handler and not from the socket.
     */
    void cover(ExtendedHandle handle) {
        under = handle;
    }

    /** Returns how many reads of the socket have returned bytes; called on the loop. */
    public long count() {
        return count;
    }

    /** Returns how many bytes the reader wants now. */
    int wanted() {
        return now.guess();
    }

    private ExtendedHandle deciding() {
        return under == null ? now : under;
    }

    @Override
    public ExtendedHandle newHandle() {
        return asked;
    }

    /** Forwards every call to the handle that is in use. */
    private final class SwitchableHandle implements ExtendedHandle {
        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            return deciding().allocate(alloc);
        }

        @Override
        public int guess() {
            return deciding().guess();
        }

        @Override
        public void reset(ChannelConfig config) {
            deciding().reset(config);
        }

        @Override
        public void incMessagesRead(int numMessages) {
            deciding().incMessagesRead(numMessages);
        }

        @Override
        public void lastBytesRead(int bytes) {
            count += bytes > 0 ? 1 : 0;
            deciding().lastBytesRead(bytes);
        }

        @Override
        public int lastBytesRead() {
            return deciding().lastBytesRead();
        }

        @Override
        public void attemptedBytesRead(int bytes) {
            deciding().attemptedBytesRead(bytes);
        }

        @Override
        public int attemptedBytesRead() {
            return deciding().attemptedBytesRead();
        }

        @Override
        public boolean continueReading() {
            return deciding().continueReading();
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreDataSupplier) {
            return deciding().continueReading(maybeMoreDataSupplier);
        }

        @Override
        public void readComplete() {
            deciding().readComplete();
        }
    }
}

package ferro.backend.tcp.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/**
 * Decides where and how much a connection reads, and can be changed during the life of the connection. Netty asks an
 * allocator for its handle once in a channel's life, so a data connection could otherwise never leave the exact reads of
 * its handshake.
 *
 * <p>Use: {@code ((SwitchedReads) channel.config().getRecvByteBufAllocator()).use(handle)}. There is one per channel. The
 * owner of the channel's loop calls it, or any thread while the channel has no loop.
 */
public final class SwitchedReads implements RecvByteBufAllocator {
    private ExtendedHandle now;
    /** Decides in the place of {@link #now}, which then only says how much its reader wants. */
    private ExtendedHandle under;

    private long count;

    /** What Netty asks; made here, because an error of Netty's own call for it would reach nobody. */
    private final ExtendedHandle asked = new Switch();

    /** Wraps the handle that decides first how much is read. */
    SwitchedReads(ExtendedHandle first) {
        now = first;
    }

    /** Lets another handle decide from now on. */
    public void use(ExtendedHandle handle) {
        now = handle;
    }

    /** Lets another handle decide, below a reader that does not read from the socket itself. */
    void cover(ExtendedHandle handle) {
        under = handle;
    }

    /** Returns how often the socket has given bytes; on the loop. */
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

    /** Passes every call on to the current handle. */
    private final class Switch implements ExtendedHandle {
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

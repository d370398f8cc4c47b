package ferro.backend.tcp.connect;

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

    /** Wraps the handle that decides first how much is read. */
    public SwitchedReads(ExtendedHandle first) {
        now = first;
    }

    void use(ExtendedHandle handle) {
        now = handle;
    }

    @Override
    public ExtendedHandle newHandle() {
        return new Switch();
    }

    /** Passes every call on to the current handle. */
    private final class Switch implements ExtendedHandle {
        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            return now.allocate(alloc);
        }

        @Override
        public int guess() {
            return now.guess();
        }

        @Override
        public void reset(ChannelConfig config) {
            now.reset(config);
        }

        @Override
        public void incMessagesRead(int numMessages) {
            now.incMessagesRead(numMessages);
        }

        @Override
        public void lastBytesRead(int bytes) {
            now.lastBytesRead(bytes);
        }

        @Override
        public int lastBytesRead() {
            return now.lastBytesRead();
        }

        @Override
        public void attemptedBytesRead(int bytes) {
            now.attemptedBytesRead(bytes);
        }

        @Override
        public int attemptedBytesRead() {
            return now.attemptedBytesRead();
        }

        @Override
        public boolean continueReading() {
            return now.continueReading();
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreDataSupplier) {
            return now.continueReading(maybeMoreDataSupplier);
        }

        @Override
        public void readComplete() {
            now.readComplete();
        }
    }
}

package ferro.backend.tcp;

import io.netty.channel.Channel;
import io.netty.channel.nio.AbstractNioChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;

/**
 * A selector under a driver of its own, where there is no epoll. Netty's handler is not used: its wait clears the interrupt
 * flag of the caller.
 *
 * <p>A selector has no edges, so a look simply lets every wire be tried again.
 */
final class NioDrivenLoop implements DrivenLoop {
    private final Selector selector;

    NioDrivenLoop() {
        try {
            selector = Selector.open();
        } catch (IOException unable) {
            throw new UncheckedIOException("cannot open a selector: " + unable.getMessage(), unable);
        }
    }

    @Override
    public Wire adopt(Channel channel) throws IOException {
        SocketChannel socket = (SocketChannel) ((AbstractNioChannel.NioUnsafe) channel.unsafe()).ch();
        NioWire wire = new NioWire(channel, socket);
        wire.key = socket.register(selector, 0, wire);
        return wire;
    }

    @Override
    public void look() {
        for (SelectionKey key : selector.keys()) {
            ((NioWire) key.attachment()).tryAgain();
        }
    }

    @Override
    public void block(long nanos) {
        try {
            selector.select(key -> {}, Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
        } catch (IOException broken) {
            throw new UncheckedIOException("cannot wait for sockets: " + broken.getMessage(), broken);
        }
        look();
    }

    @Override
    public void wakeup() {
        selector.wakeup();
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException broken) {
            throw new UncheckedIOException("cannot close a selector: " + broken.getMessage(), broken);
        }
    }

    /** One socket. */
    private final class NioWire implements Wire {
        private final Channel channel;
        private final SocketChannel socket;
        private SelectionKey key;
        private boolean readable = true;
        private boolean writable = true;
        /** Views of the buffers seen last: the channel wants position and limit, and those are not ours to move. */
        private ByteBuffer writtenOwner;

        private ByteBuffer written;
        private ByteBuffer readOwner;
        private ByteBuffer read;
        /** A byte that was read to see whether there is an end; null until that was asked. */
        private ByteBuffer ahead;

        private boolean isAhead;

        NioWire(Channel channel, SocketChannel socket) {
            this.channel = channel;
            this.socket = socket;
        }

        @Override
        public int write(ByteBuffer bytes, int from, int to) throws IOException {
            if (bytes != writtenOwner) {
                writtenOwner = bytes;
                written = bytes.duplicate().clear();
            }
            int taken = socket.write(written.limit(to).position(from));
            writable = taken > 0;
            return taken;
        }

        @Override
        public int read(ByteBuffer bytes, int from, int to) throws IOException {
            if (bytes != readOwner) {
                readOwner = bytes;
                read = bytes.duplicate().clear();
            }
            if (isAhead) {
                isAhead = false;
                readable = true;
                bytes.put(from, ahead.get(0));
                return 1 + (to - from > 1 ? more(from + 1, to) : 0);
            }
            int came = socket.read(read.limit(to).position(from));
            readable = came != 0;
            return came;
        }

        /** An end is told by the next read. */
        private int more(int from, int to) {
            try {
                return Math.max(0, socket.read(read.limit(to).position(from)));
            } catch (IOException reset) {
                return 0;
            }
        }

        /** A selector does not tell an end from bytes, so a byte is read. */
        @Override
        public boolean ended() throws IOException {
            if (ahead == null) {
                ahead = ByteBuffer.allocateDirect(1);
            }
            if (!isAhead) {
                int came = socket.read(ahead.clear());
                isAhead = came > 0;
                return came < 0;
            }
            return false;
        }

        @Override
        public boolean readable() {
            return readable || isAhead;
        }

        @Override
        public boolean writable() {
            return writable;
        }

        @Override
        public void want(boolean reading, boolean writing) {
            int ops = (reading ? SelectionKey.OP_READ : 0) | (writing ? SelectionKey.OP_WRITE : 0);
            if (key.isValid() && key.interestOps() != ops) {
                key.interestOps(ops);
            }
        }

        @Override
        public void close() {
            key.cancel();
            channel.unsafe().closeForcibly();
            forget();
        }

        @Override
        public Channel release() {
            key.cancel();
            forget();
            return channel;
        }

        private void forget() {
            writtenOwner = null;
            written = null;
            readOwner = null;
            read = null;
            flushCancelled();
        }

        private void tryAgain() {
            readable = true;
            writable = true;
        }
    }

    /** The socket of a cancelled key is really closed by the selector's next turn. */
    private void flushCancelled() {
        if (!selector.isOpen()) {
            return;
        }
        try {
            selector.selectNow(key -> {});
        } catch (IOException broken) {
            throw new UncheckedIOException("cannot close a socket: " + broken.getMessage(), broken);
        }
    }
}

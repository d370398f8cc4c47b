package ferro.backend.tcp.link;

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
 * A selector for hosts without epoll, which the progress thread polls. Netty's handler is not used, because its wait
 * clears the interrupt flag of the caller.
 *
 * <p>A selector reports no edges, so each poll marks every socket as readable and writable.
 */
final class NioLoop implements PolledLoop {
    private final Selector selector;

    NioLoop() {
        try {
            selector = Selector.open();
        } catch (IOException unable) {
            throw new UncheckedIOException("cannot open a selector: " + unable.getMessage(), unable);
        }
    }

    @Override
    public DataSocket adopt(Channel channel) throws IOException {
        SocketChannel socket = (SocketChannel) ((AbstractNioChannel.NioUnsafe) channel.unsafe()).ch();
        NioDataSocket wire = new NioDataSocket(channel, socket);
        wire.key = socket.register(selector, 0, wire);
        return wire;
    }

    @Override
    public void look() {
        for (SelectionKey key : selector.keys()) {
            ((NioDataSocket) key.attachment()).tryAgain();
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

    private final class NioDataSocket implements DataSocket {
        private final Channel channel;
        private final SocketChannel socket;
        private SelectionKey key;
        private boolean readable = true;
        private boolean writable = true;
        /**
         * The buffer of the last write. Its view {@link #written} is passed to the channel, which therefore does not
         * change the buffer's position and limit. Reads use a view in the same way.
         */
        private ByteBuffer writtenOwner;

        private ByteBuffer written;
        private ByteBuffer readOwner;
        private ByteBuffer read;
        /** A byte that was read to detect the end of the stream; null until {@link #ended} is called. */
        private ByteBuffer ahead;

        private boolean isAhead;

        NioDataSocket(Channel channel, SocketChannel socket) {
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

        /** Reads the bytes after the byte of {@link #ahead}. If the stream has ended, the next read reports the end. */
        private int more(int from, int to) {
            try {
                return Math.max(0, socket.read(read.limit(to).position(from)));
            } catch (IOException reset) {
                return 0;
            }
        }

        /** Reads one byte, because a selector does not distinguish the end of the stream from received bytes. */
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
        public void endOutput() throws IOException {
            socket.shutdownOutput();
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

    /** Selects once, because the selector closes the sockets of cancelled keys only at its next selection. */
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

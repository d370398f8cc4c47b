package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.List;

/** A storage whose machine dies after a number of calls or of bytes: what was done before stays, nothing is done after. */
final class DyingStorage implements CheckpointStorage {
    private CheckpointStorage storage;
    private long callsLeft;
    private long bytesLeft;
    private boolean diesAfterTheCall;

    DyingStorage(CheckpointStorage storage) {
        live(storage);
    }

    /** Lives on. */
    synchronized void live(CheckpointStorage on) {
        storage = on;
        callsLeft = Long.MAX_VALUE;
        bytesLeft = Long.MAX_VALUE;
    }

    /** Dies in a call that changes something: before it is made, or after. */
    synchronized void dieAtCall(long call, boolean after) {
        callsLeft = call;
        diesAfterTheCall = after;
    }

    synchronized void dieAtByte(long at) {
        bytesLeft = at;
    }

    synchronized boolean isDead() {
        return callsLeft < 0 || bytesLeft < 0;
    }

    private synchronized void alive() throws IOException {
        if (isDead()) {
            throw new IOException("the machine is dead");
        }
    }

    private synchronized void call(boolean isDone) throws IOException {
        alive();
        if (isDone == diesAfterTheCall && callsLeft-- == 0) {
            throw new IOException("the machine dies");
        }
    }

    @Override
    public void write(String name, ObjectContent content) throws IOException {
        call(false);
        storage.write(name, channel -> content.writeTo(new Cut(channel)));
        call(true);
    }

    @Override
    public int read(String name, long offset, ByteBuffer into) throws IOException {
        alive();
        return storage.read(name, offset, into);
    }

    @Override
    public List<StoredObject> list(String prefix) throws IOException {
        alive();
        return storage.list(prefix);
    }

    @Override
    public void publish(String name, byte[] content) throws IOException {
        call(false);
        storage.publish(name, content);
        call(true);
    }

    @Override
    public void delete(String name) throws IOException {
        call(false);
        storage.delete(name);
        call(true);
    }

    /** Takes as many bytes as are left. */
    private final class Cut implements WritableByteChannel {
        private final WritableByteChannel to;

        private Cut(WritableByteChannel to) {
            this.to = to;
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            synchronized (DyingStorage.this) {
                alive();
                int count = (int) Math.min(bytes.remaining(), bytesLeft);
                ByteBuffer first = bytes.slice(bytes.position(), count);
                while (first.hasRemaining()) {
                    to.write(first);
                }
                bytesLeft -= count;
                if (count < bytes.remaining()) {
                    bytesLeft = -1;
                    throw new IOException("the machine dies in a write");
                }
                bytes.position(bytes.limit());
                return count;
            }
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // the storage closes its own channel
        }
    }
}

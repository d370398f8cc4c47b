package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/** Calls something before an object whose name ends so is read or written for the first time. */
final class Overtaken extends DeletingStorage {
    private final String call;
    private final AtomicReference<Runnable> meanwhile;

    Overtaken(CheckpointStorage storage, String call, Runnable meanwhile) {
        super(storage);
        this.call = call;
        this.meanwhile = new AtomicReference<>(meanwhile);
    }

    /** Returns what would be called, and calls it no more. */
    Runnable withdraw() {
        return meanwhile.getAndSet(null);
    }

    void again(Runnable call) {
        meanwhile.set(call);
    }

    private void call(String made) {
        if (made.matches(call)) {
            Runnable now = meanwhile.getAndSet(null);
            if (now != null) {
                now.run();
            }
        }
    }

    @Override
    public void write(String name, ObjectContent content) throws IOException {
        call("write " + name);
        super.write(name, content);
    }

    @Override
    public int read(String name, long offset, ByteBuffer into) throws IOException {
        call("read " + name);
        return super.read(name, offset, into);
    }

    @Override
    public List<StoredObject> list(String prefix) throws IOException {
        call("list " + prefix);
        return super.list(prefix);
    }

    @Override
    public void publish(String name, byte[] content) throws IOException {
        call("publish " + name);
        super.publish(name, content);
    }

    @Override
    public void delete(String name) throws IOException {
        call("delete " + name);
        super.delete(name);
    }
}

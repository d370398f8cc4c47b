package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A storage that deletes nothing, with the four calls that every one has. */
final class KeepingStorage implements CheckpointStorage {
    private final CheckpointStorage storage;

    KeepingStorage(CheckpointStorage storage) {
        this.storage = storage;
    }

    @Override
    public void write(String name, ObjectContent content) throws IOException {
        storage.write(name, content);
    }

    @Override
    public int read(String name, long offset, ByteBuffer into) throws IOException {
        return storage.read(name, offset, into);
    }

    @Override
    public List<StoredObject> list(String prefix) throws IOException {
        return storage.list(prefix);
    }

    @Override
    public void publish(String name, byte[] content) throws IOException {
        storage.publish(name, content);
    }

    @Override
    public String toString() {
        return "a store that keeps all";
    }
}

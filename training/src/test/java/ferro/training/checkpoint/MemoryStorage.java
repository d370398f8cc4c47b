package ferro.training.checkpoint;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Objects in memory; bytes of an object are there as soon as they are written. */
final class MemoryStorage implements CheckpointStorage {
    final Map<String, byte[]> objects = new ConcurrentHashMap<>();

    MemoryStorage copy() {
        MemoryStorage copy = new MemoryStorage();
        copy.objects.putAll(objects);
        return copy;
    }

    @Override
    public void write(String name, ObjectContent content) throws IOException {
        objects.put(name, new byte[0]);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        WritableByteChannel channel = Channels.newChannel(bytes);
        try {
            content.writeTo(channel);
        } finally {
            objects.put(name, bytes.toByteArray());
        }
    }

    @Override
    public int read(String name, long offset, ByteBuffer into) throws IOException {
        byte[] bytes = objects.get(name);
        if (bytes == null) {
            throw new NoSuchFileException(name);
        }
        int count = (int) Math.max(0, Math.min(into.remaining(), bytes.length - offset));
        into.put(bytes, (int) Math.min(offset, bytes.length), count);
        return count;
    }

    @Override
    public List<StoredObject> list(String prefix) {
        return objects.entrySet().stream()
                .filter(object -> object.getKey().startsWith(prefix))
                .map(object -> new StoredObject(object.getKey(), object.getValue().length))
                .toList();
    }

    @Override
    public void publish(String name, byte[] content) {
        objects.put(name, content.clone());
    }

    @Override
    public void delete(String name) {
        objects.remove(name);
    }

    @Override
    public String toString() {
        return "memory";
    }
}

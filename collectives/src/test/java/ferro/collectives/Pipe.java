package ferro.collectives;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/** A medium that holds a few bytes. */
record Pipe(Queue<Byte> bytes, int window) implements StagedLink.Sink, StagedLink.Source {
    Pipe(int window) {
        this(new ArrayDeque<>(), window);
    }

    @Override
    public int free() {
        return window - bytes.size();
    }

    @Override
    public void put(ByteBuffer from, int count) {
        assertTrue(count <= free(), count + " bytes put where there is room for " + free());
        for (int i = 0; i < count; i++) {
            bytes.add(from.get(i));
        }
    }

    @Override
    public int came() {
        return bytes.size();
    }

    @Override
    public void take(ByteBuffer into, int count) {
        for (int i = 0; i < count; i++) {
            into.put(i, bytes.remove());
        }
    }
}

package ferro.backend.nccl.comm;

import ferro.Store;
import ferro.backend.nccl.queue.LocalStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A store that knows how often it was asked, and everything that was ever put into it. */
class CountingStore implements Store {
    private final LocalStore store = new LocalStore();
    private final AtomicLong requests = new AtomicLong();
    private final Map<String, String> values = new ConcurrentHashMap<>();

    long requests() {
        return requests.get();
    }

    /** Returns what was last put under each key, as Latin-1. */
    Map<String, String> values() {
        return values;
    }

    @Override
    public void set(String key, byte[] value) {
        requests.incrementAndGet();
        values.put(key, new String(value, StandardCharsets.ISO_8859_1));
        store.set(key, value);
    }

    @Override
    public CompletionStage<byte[]> when(String key) {
        requests.incrementAndGet();
        return store.when(key);
    }

    @Override
    public byte[] get(String key, Duration timeout) {
        requests.incrementAndGet();
        return store.get(key, timeout);
    }

    @Override
    public long add(String key, long delta) {
        requests.incrementAndGet();
        return store.add(key, delta);
    }

    @Override
    public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
        requests.incrementAndGet();
        return store.compareAndSet(key, expected, value);
    }

    @Override
    public boolean delete(String key) {
        requests.incrementAndGet();
        return store.delete(key);
    }

    @Override
    public void close() {
        store.close();
    }
}

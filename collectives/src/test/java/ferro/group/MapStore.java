package ferro.group;

import ferro.Store;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keys that are set and waited for, for ranks that are threads; remembers what was set. */
final class MapStore implements Store {
    private final Map<String, CompletableFuture<byte[]>> values = new ConcurrentHashMap<>();
    private final List<String> written = new CopyOnWriteArrayList<>();

    List<String> written() {
        return List.copyOf(written);
    }

    private CompletableFuture<byte[]> at(String key) {
        return values.computeIfAbsent(key, none -> new CompletableFuture<>());
    }

    @Override
    public void set(String key, byte[] value) {
        written.add(key);
        at(key).complete(value);
    }

    @Override
    public CompletionStage<byte[]> when(String key) {
        return at(key).minimalCompletionStage();
    }

    @Override
    public byte[] get(String key, Duration timeout) {
        throw new UnsupportedOperationException("get of " + key + " is not needed here");
    }

    @Override
    public long add(String key, long delta) {
        throw new UnsupportedOperationException("add to " + key + " is not needed here");
    }

    @Override
    public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
        throw new UnsupportedOperationException("compareAndSet of " + key + " is not needed here");
    }

    @Override
    public boolean delete(String key) {
        throw new UnsupportedOperationException("delete of " + key + " is not needed here");
    }

    @Override
    public void close() {
        // its owner is the test
    }
}

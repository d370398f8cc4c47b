package ferro.backend.tcp.store;

import ferro.Store;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A store for the requests of one join: no request waits for its answer beyond the deadline of the join.
 *
 * @param store         the store
 * @param deadlineNanos end of the waits, on the clock of the store
 */
record StoreUntil(TcpStore store, long deadlineNanos) implements Store {
    @Override
    public void set(String key, byte[] value) {
        store.set(key, value);
    }

    @Override
    public CompletionStage<byte[]> when(String key) {
        return store.when(key);
    }

    @Override
    public byte[] get(String key, Duration timeout) {
        return store.get(key, timeout);
    }

    @Override
    public long add(String key, long delta) {
        return store.add(key, delta, store.nanosUntil(deadlineNanos));
    }

    @Override
    public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
        return store.compareAndSet(key, expected, value, store.nanosUntil(deadlineNanos));
    }

    @Override
    public CompletionStage<byte[]> compareAndSetAsync(String key, byte[] expected, byte[] value) {
        return store.compareAndSetAsync(key, expected, value);
    }

    @Override
    public boolean delete(String key) {
        return store.delete(key, store.nanosUntil(deadlineNanos));
    }

    @Override
    public boolean servedHere() {
        return store.servedHere();
    }

    @Override
    public void close(Duration within) {
        store.close(within);
    }

    @Override
    public void close() {
        store.close();
    }
}

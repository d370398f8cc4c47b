package ferro;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A small map that all ranks share and use to join. A key is slash-separated, has at most 1 KiB, and contains no
 * unpaired surrogate. A value has at most 1 MiB.
 *
 * <p>A call that returns a value waits for the network, at most until the deadline that was set when the store was
 * opened. After this deadline, a waiting call throws a {@link FerroException} of code RENDEZVOUS. State machines use
 * {@link #when}, which does not wait. A simulated store returns values without waiting.
 */
public interface Store extends AutoCloseable {
    /**
     * Sets the value of a key.
     *
     * @param key   name of the value
     * @param value bytes, copied
     */
    void set(String key, byte[] value);

    /**
     * Returns a stage that completes when the key exists. This method never blocks, so that the seeded simulation can
     * call it too.
     *
     * @param key name of the value
     * @return stage with the value
     */
    CompletionStage<byte[]> when(String key);

    /**
     * Waits until a key exists, and returns its value.
     *
     * @param key     name of the value
     * @param timeout time limit counted from this call
     * @return value
     * @throws FerroException of code RENDEZVOUS if the key does not exist in time; the message contains the key
     */
    byte[] get(String key, Duration timeout);

    /**
     * Adds a number to a counter, which is 0 if the key does not exist.
     *
     * @param key   name of the value
     * @param delta number to add
     * @return new value of the counter
     */
    long add(String key, long delta);

    /**
     * Sets the value of a key if the current value of the key is the expected value.
     *
     * @param key      name of the value
     * @param expected expected value; null means that the key is absent
     * @param value    new value
     * @return value of the key after the call
     */
    byte[] compareAndSet(String key, byte[] expected, byte[] value);

    /**
     * Requests a {@link #compareAndSet} without waiting for the answer. A rank that leaves a group uses this method,
     * since a store that no longer responds must not delay a close. The store handles the request before requests that
     * this object sends later.
     *
     * <p>The default implementation calls {@link #compareAndSet} and waits. A store on a network overrides this method.
     *
     * @param key      name of the value
     * @param expected expected value; null means that the key is absent
     * @param value    new value
     * @return stage with the value of the key after the request; fails if the store is closed or lost
     */
    default CompletionStage<byte[]> compareAndSetAsync(String key, byte[] expected, byte[] value) {
        try {
            return CompletableFuture.completedStage(compareAndSet(key, expected, value));
        } catch (FerroException | IllegalStateException failure) {
            return CompletableFuture.failedStage(failure);
        }
    }

    /**
     * Removes a key.
     *
     * @param key name of the value
     * @return whether the key existed
     */
    boolean delete(String key);

    /**
     * Returns whether this process serves the store to the other ranks. The other ranks lose the store when the serving
     * process closes the store.
     *
     * @return false if another process serves the store, or if the store needs no server
     */
    default boolean servedHere() {
        return false;
    }

    /**
     * Closes the store as {@link #close} does, within a time limit. Before the close, a store on a network sends its
     * last changes. The store waits for the answers to its last changes at most for the time {@code within}. The
     * default implementation ignores the time limit.
     *
     * @param within maximum time; zero or less waits for no answer
     */
    default void close(Duration within) {
        close();
    }

    @Override
    void close();
}

package ferro;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A small map that all ranks share, for joining. Keys are slash-separated, 1 KiB at most, without half of a surrogate pair;
 * values are 1 MiB at most.
 *
 * <p>Calls that return a value wait for the network, at most until the deadline that the store was opened with, and then
 * throw {@link FerroException} RENDEZVOUS. State machines use {@link #when}. A simulated store answers at once.
 */
public interface Store extends AutoCloseable {
    /**
     * Sets the value of a key.
     *
     * @param key   name
     * @param value bytes, copied
     */
    void set(String key, byte[] value);

    /**
     * Returns a stage that completes when the key exists. The call never blocks, so that the seeded simulation can run it.
     *
     * @param key name
     * @return stage with the value
     */
    CompletionStage<byte[]> when(String key);

    /**
     * Waits for a key.
     *
     * @param key     name
     * @param timeout from now
     * @return value
     * @throws FerroException RENDEZVOUS, with the key in the message
     */
    byte[] get(String key, Duration timeout);

    /**
     * Adds to a counter.
     *
     * @param key   name
     * @param delta amount
     * @return new value
     */
    long add(String key, long delta);

    /**
     * Sets the value of a key if its current value is the expected one.
     *
     * @param key      name
     * @param expected expected value; null means that the key is absent
     * @param value    new value
     * @return value of the key afterwards
     */
    byte[] compareAndSet(String key, byte[] expected, byte[] value);

    /**
     * Requests {@link #compareAndSet} without waiting for the answer. A rank that leaves calls it: a store that no longer
     * answers must not delay a close. The store handles the request before later requests of this object.
     *
     * <p>The default waits in {@link #compareAndSet}. A store on a network overrides it.
     *
     * @param key      name
     * @param expected expected value; null means that the key is absent
     * @param value    new value
     * @return stage with the value of the key afterwards; fails if the store is closed or gone
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
     * @param key name
     * @return whether the key existed
     */
    boolean delete(String key);

    /**
     * Returns whether this process serves the store to the other ranks. They lose the store when this process closes it.
     *
     * @return false if another process serves the store, or if it needs no server
     */
    default boolean servedHere() {
        return false;
    }

    /**
     * Closes the store as {@link #close} does, within a time. A store on a network sends its last changes first, and waits for
     * the answers no longer than that. The default ignores the time.
     *
     * @param within maximum time; zero or less waits for no answer
     */
    default void close(Duration within) {
        close();
    }

    @Override
    void close();
}

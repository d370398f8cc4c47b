package ferro;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A small map that all ranks share, for joining; keys are slash-separated, 1 KiB at most, values 1 MiB at most.
 *
 * <p>Calls that return a value wait for the wire, at most until the deadline that the store was opened with, then throw
 * {@link FerroException} RENDEZVOUS; step machines use {@link #when}; a simulated store answers at once.
 */
public interface Store extends AutoCloseable {
    /**
     * Sets.
     *
     * @param key   name
     * @param value bytes, copied
     */
    void set(String key, byte[] value);

    /**
     * Completes when the key exists; never blocks, so that the seeded simulation can run it.
     *
     * @param key name
     * @return value
     */
    CompletionStage<byte[]> when(String key);

    /**
     * Waits for a key.
     *
     * @param key     name
     * @param timeout from now
     * @return value
     * @throws FerroException RENDEZVOUS naming the key
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
     * Sets if the value is the expected one.
     *
     * @param key      name
     * @param expected null means absent
     * @param value    new value
     * @return what is there afterwards
     */
    byte[] compareAndSet(String key, byte[] expected, byte[] value);

    /**
     * Removes.
     *
     * @param key name
     * @return whether it was there
     */
    boolean delete(String key);

    /**
     * Returns whether this process serves the store to the other ranks, who lose it when it is closed here.
     *
     * @return false where another process serves it, or it needs no server
     */
    default boolean servedHere() {
        return false;
    }

    @Override
    void close();
}

package ferro.backend.tcp.store;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The content of a store: keys, values, and the receivers that wait for each key. This class uses no sockets and no
 * threads.
 */
public final class StoreMap {
    static final int MOST_KEY_BYTES = 1024;
    static final int MOST_VALUE_BYTES = 1 << 20;
    static final long MOST_BYTES = 64L << 20;

    private final Map<String, byte[]> values = new HashMap<>();
    private final Map<String, Set<Consumer<byte[]>>> waiting = new HashMap<>();
    private long bytes;

    /** Sets a key, and calls the receivers that wait for the key with the value. */
    void set(String key, byte[] value) throws Refusal {
        byte[] old = values.get(key);
        long more = old == null ? bytesOf(key) + value.length : value.length - (long) old.length;
        if (bytes + more > MOST_BYTES) {
            throw new Refusal(
                    Code.RESOURCE,
                    "the store holds " + bytes + " bytes, " + more + " more for key \"" + key
                            + "\" exceed the limit of " + MOST_BYTES + ": delete unneeded keys");
        }
        bytes += more;
        values.put(key, value);
        Set<Consumer<byte[]>> told = waiting.remove(key);
        if (told != null) {
            for (Consumer<byte[]> one : told) {
                one.accept(value);
            }
        }
    }

    /** Calls a receiver with the value of a key: at once if the key is set, otherwise when the key is set. */
    void when(String key, Consumer<byte[]> told) {
        byte[] value = values.get(key);
        if (value != null) {
            told.accept(value);
        } else {
            Set<Consumer<byte[]>> all = waiting.get(key);
            if (all == null) {
                all = new LinkedHashSet<>();
                waiting.put(key, all);
            }
            all.add(told);
        }
    }

    void forget(String key, Consumer<byte[]> told) {
        Set<Consumer<byte[]>> all = waiting.get(key);
        if (all != null && all.remove(told) && all.isEmpty()) {
            waiting.remove(key);
        }
    }

    /** Adds to a counter, whose value is stored as decimal text. An absent counter has the value 0. */
    long add(String key, long delta) throws Refusal {
        byte[] old = values.get(key);
        String text = old == null ? "0" : new String(old, StandardCharsets.US_ASCII);
        try {
            long sum = Math.addExact(Long.parseLong(text), delta);
            set(key, Long.toString(sum).getBytes(StandardCharsets.US_ASCII));
            return sum;
        } catch (NumberFormatException | ArithmeticException unfit) {
            throw new Refusal(
                    Code.RENDEZVOUS,
                    "cannot add " + delta + " to key \"" + key + "\": its " + text.length()
                            + " bytes are not a number, or the sum exceeds 64 bits");
        }
    }

    /** Sets a key if it has the expected value; null means an absent key. Returns the value after the call, or null. */
    byte[] compareAndSet(String key, byte[] expected, byte[] value) throws Refusal {
        byte[] old = values.get(key);
        boolean same = expected == null ? old == null : Arrays.equals(expected, old);
        if (!same) {
            return old;
        }
        set(key, value);
        return value;
    }

    boolean delete(String key) {
        byte[] old = values.remove(key);
        if (old == null) {
            return false;
        }
        bytes -= bytesOf(key) + old.length;
        return true;
    }

    /** Calls a receiver with each key and its value. The receiver may set other keys. */
    public void forEach(BiConsumer<String, byte[]> receiver) {
        Map.copyOf(values).forEach(receiver);
    }

    /** Returns the number of bytes of all keys and values. */
    long bytes() {
        return bytes;
    }

    /** Returns how many receivers wait for a key. */
    public int waiters() {
        return waiting.values().stream().mapToInt(Set::size).sum();
    }

    private static long bytesOf(String key) {
        return key.getBytes(StandardCharsets.UTF_8).length;
    }
}

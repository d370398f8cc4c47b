package ferro.launcher.nodes;

import static ferro.backend.tcp.store.LauncherStore.KEYS;

import com.google.gson.Gson;
import ferro.Store;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Names of keys in the store, and the encoding of their values: records as JSON, because another version may have to read
 * them.
 */
final class Keys {
    /** A {@link StartSignal}. */
    static final String START = KEYS + "start";
    /** Set when all ranks have joined. */
    static final String JOINED = KEYS + "joined";
    /** Number of ranks that have failed on all nodes; it gives their order. */
    static final String FAILURES = KEYS + "failures";
    /** Exit code of the first rank that failed, or of a lost node. */
    static final String STOP = KEYS + "stop";
    /** The verdict that the launcher of node 0 makes of all reports. */
    static final String VERDICT = KEYS + "verdict";

    private Keys() {}

    static String card(int node) {
        return KEYS + node + "/card";
    }

    static String beat(int node) {
        return KEYS + node + "/beat";
    }

    static String report(int node) {
        return KEYS + node + "/report";
    }

    /** Returns the key for the name of the n-th signal that a launcher was sent. */
    static String signal(int node, int times) {
        return KEYS + node + "/signal/" + times;
    }

    static byte[] encoded(Object value) {
        return new Gson().toJson(value).getBytes(StandardCharsets.UTF_8);
    }

    static <T> T decoded(byte[] value, Class<T> type) {
        return new Gson().fromJson(new String(value, StandardCharsets.UTF_8), type);
    }

    /** Sets a key if it is not set yet; returns whether this call has set it. */
    static boolean first(Store store, String key, byte[] value) {
        return Arrays.equals(value, store.compareAndSet(key, null, value));
    }
}

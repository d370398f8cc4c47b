package ferro.launcher.nodes;

import static ferro.backend.tcp.LauncherStore.KEYS;

import com.google.gson.Gson;
import ferro.Store;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Names in the store, and how values stand there: records as JSON, as another version may have to read them. */
final class Keys {
    /** A {@link Start}. */
    static final String START = KEYS + "start";
    /** That ranks have joined. */
    static final String JOINED = KEYS + "joined";
    /** How many ranks have failed, over all nodes: their order. */
    static final String FAILURES = KEYS + "failures";
    /** Exit code of the first rank that failed, or of a lost node. */
    static final String STOP = KEYS + "stop";
    /** What the launcher of node 0 makes of all reports. */
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

    /** The name of the n-th signal that a launcher was sent. */
    static String signal(int node, int times) {
        return KEYS + node + "/signal/" + times;
    }

    static byte[] encoded(Object value) {
        return new Gson().toJson(value).getBytes(StandardCharsets.UTF_8);
    }

    static <T> T decoded(byte[] value, Class<T> type) {
        return new Gson().fromJson(new String(value, StandardCharsets.UTF_8), type);
    }

    /** Sets a key that nobody has set; returns whether it was this call that did. */
    static boolean first(Store store, String key, byte[] value) {
        return Arrays.equals(value, store.compareAndSet(key, null, value));
    }
}

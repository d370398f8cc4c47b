package ferro.launcher.nodes;

import static ferro.backend.tcp.store.LauncherClient.KEYS;

import com.google.gson.Gson;
import ferro.Store;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The names of the launchers' keys in the store, and the encoding of their values. Records are stored as JSON, because
 * another version of ferro may have to read the records. Each generation of a job has separate keys.
 *
 * @param generation number of the start of the ranks, from 0
 */
record StoreKeys(int generation) {
    /** The keys of the first generation, or of a job that never starts again. */
    static final StoreKeys FIRST = new StoreKeys(0);

    /** The key for the number of the last generation for which launchers wait. */
    static final String GENERATION = KEYS + "generation";

    /** The key for the exit code of the job, which is set when the job starts no other generation. */
    static final String ENDED = KEYS + "ended";

    private String key(String name) {
        return KEYS + (generation == 0 ? "" : "generation/" + generation + "/") + name;
    }

    /** Returns the key for the {@link StartDecision} of this generation. */
    String start() {
        return key("start");
    }

    /** Returns the key that is set when all ranks have joined. */
    String joined() {
        return key("joined");
    }

    /** Returns the key for the number of failed ranks on all nodes. The number gives the order of the failures. */
    String failures() {
        return key("failures");
    }

    /** Returns the key for the exit code of the first failed rank, or for the exit code after the loss of a node. */
    String stop() {
        return key("stop");
    }

    /** Returns the key for the verdict that the launcher of node 0 makes from all reports. */
    String verdict() {
        return key("verdict");
    }

    String card(int node) {
        return key(node + "/card");
    }

    String beat(int node) {
        return key(node + "/beat");
    }

    String report(int node) {
        return key(node + "/report");
    }

    /** Returns the key for the name of the n-th signal that a launcher has received. */
    String signal(int node, int times) {
        return key(node + "/signal/" + times);
    }

    /** Returns the key for the end of a rank in a job whose ranks use another store than its launchers. */
    String end(int rank) {
        return key("end/" + rank);
    }

    /** Returns the rank whose end is published under a key; empty for other keys and generations. */
    Optional<Integer> endedRank(String key) {
        String before = key("end/");
        return key.startsWith(before) ? Optional.of(Integer.valueOf(key.substring(before.length()))) : Optional.empty();
    }

    /** Returns the keys of this generation that are not needed after the generation. */
    List<String> all(List<LauncherEntry> entries, int signals) {
        List<String> all = new ArrayList<>(List.of(joined(), failures(), stop()));
        for (LauncherEntry entry : entries) {
            all.addAll(List.of(card(entry.node()), beat(entry.node()), report(entry.node())));
            for (int times = 1; times <= signals; times++) {
                all.add(signal(entry.node(), times));
            }
            for (int rank = 0; rank < entry.ranks(); rank++) {
                all.add(end(entry.node() * entry.ranks() + rank));
            }
        }
        return all;
    }

    static byte[] encoded(Object value) {
        return new Gson().toJson(value).getBytes(StandardCharsets.UTF_8);
    }

    static <T> T decoded(byte[] value, Class<T> type) {
        return new Gson().fromJson(new String(value, StandardCharsets.UTF_8), type);
    }

    static byte[] encoded(int exitCode) {
        return Integer.toString(exitCode).getBytes(StandardCharsets.US_ASCII);
    }

    static int exitCode(byte[] value) {
        return Integer.parseInt(new String(value, StandardCharsets.US_ASCII));
    }

    /** Sets a key if the key is not set yet. Returns whether the key now has the given value. */
    static boolean first(Store store, String key, byte[] value) {
        return Arrays.equals(value, store.compareAndSet(key, null, value));
    }
}

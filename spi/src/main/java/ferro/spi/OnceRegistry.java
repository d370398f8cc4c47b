package ferro.spi;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A record of what has been done in a context, so that a rank that joins several groups prints a message only once.
 * Thread-safe.
 */
public final class OnceRegistry implements AutoCloseable {
    private final Set<String> done = ConcurrentHashMap.newKeySet();

    private OnceRegistry() {}

    /**
     * Returns whether this call is the first call with {@code key} in the context.
     *
     * @param context context of the rank
     * @param key     name of the action that is done once
     * @return true for the first call with each key, false for all later calls with the key
     */
    public static boolean isFirst(RankContext context, String key) {
        Objects.requireNonNull(context, "context");
        Objects.requireNonNull(key, "key");
        // this use of the shared object is never released, since the object lives as long as the context and holds no
        // resources
        return context.shared(OnceRegistry.class, OnceRegistry::new).done.add(key);
    }

    /** Does nothing, because this object holds no resources. */
    @Override
    public void close() {
        // this object holds no resources
    }
}

package ferro.spi;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers what was done already in a context, so that a rank that joins several groups says it once. Thread-safe.
 */
public final class OncePerContext implements AutoCloseable {
    private final Set<String> done = ConcurrentHashMap.newKeySet();

    private OncePerContext() {}

    /**
     * Returns whether this is the first call with this key in this context.
     *
     * @param context of the rank
     * @param key     name of what is done once
     * @return true once for each key
     */
    public static boolean isFirst(RankContext context, String key) {
        Objects.requireNonNull(context, "context");
        Objects.requireNonNull(key, "key");
        // this use of the shared object is never released: it ends with the context, and holds nothing else
        return context.shared(OncePerContext.class, OncePerContext::new).done.add(key);
    }

    /** Does nothing, because nothing is held. */
    @Override
    public void close() {
        // nothing is held
    }
}

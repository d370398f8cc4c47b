package ferro.backend.tcp.store;

import ferro.spi.RankContext;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The slots that a context has released without a confirmation of the store. A store that is stopped or unreachable
 * processes a release late or never. Therefore a later join of the same context may find the entry of the earlier join.
 * The later join treats this entry as a released slot. Thread-safe.
 */
public final class ReleasedSlots implements AutoCloseable {
    /** The last generation in which the slot was used, by instance of the {@link Roster.RankEntry} in the slot. */
    private final Map<Long, Integer> generations = new ConcurrentHashMap<>();

    ReleasedSlots() {}

    /** Returns the released slots of a context. The slots are kept until the context ends. */
    public static ReleasedSlots of(RankContext context) {
        return context.shared(ReleasedSlots.class, ReleasedSlots::new);
    }

    void add(long instance, int lastGeneration) {
        generations.put(instance, lastGeneration);
    }

    /** Removes a slot, because the store has confirmed its release. */
    void confirm(long instance) {
        generations.remove(instance);
    }

    /** Returns the last generation of a released slot; empty if not released, or if the release was confirmed. */
    Optional<Integer> lastGeneration(long instance) {
        return Optional.ofNullable(generations.get(instance));
    }

    /** Does nothing, because this object has no resources. */
    @Override
    public void close() {
        // nothing is held
    }
}

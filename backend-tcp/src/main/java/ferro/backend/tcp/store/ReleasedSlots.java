package ferro.backend.tcp.store;

import ferro.spi.RankContext;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The slots whose release a context has requested and the store has not confirmed. A store that is stopped or
 * unreachable processes the request late or never. Therefore a later join of the same context may find the rank entry
 * of the earlier join. The later join treats this slot as released. Thread-safe.
 */
public final class ReleasedSlots implements AutoCloseable {
    /**
     * For each released slot, the last generation in which the slot was used. The key is the instance of the {@link
     * Roster.RankEntry} in the slot.
     */
    private final Map<Long, Integer> generations = new ConcurrentHashMap<>();

    ReleasedSlots() {}

    /** Returns the released slots of a context. The context has one such object until it ends. */
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

    /**
     * Returns the last generation of a released slot; empty if the slot was not released, or if the store has confirmed
     * the release.
     */
    Optional<Integer> lastGeneration(long instance) {
        return Optional.ofNullable(generations.get(instance));
    }

    /** Does nothing, because this object has no resources. */
    @Override
    public void close() {
        // this object has no resources
    }
}

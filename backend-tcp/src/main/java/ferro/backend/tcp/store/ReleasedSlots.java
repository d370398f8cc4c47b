package ferro.backend.tcp.store;

import ferro.spi.RankContext;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The slots that a context has released and whose release the store has not confirmed. A store that is stopped, or cut off,
 * learns of a release late or never. A later join of the same context then still finds its own earlier entry, and takes that
 * for a released slot. Thread-safe.
 */
public final class ReleasedSlots implements AutoCloseable {
    /** The last generation that the slot was in, by instance of the {@link Roster.Card} in it. */
    private final Map<Long, Integer> generations = new ConcurrentHashMap<>();

    ReleasedSlots() {}

    /** Returns the slots of a context; they are kept until the context ends. */
    public static ReleasedSlots of(RankContext context) {
        return context.shared(ReleasedSlots.class, ReleasedSlots::new);
    }

    void add(long instance, int lastGeneration) {
        generations.put(instance, lastGeneration);
    }

    /** Forgets a slot because the store knows that it is released. */
    void confirm(long instance) {
        generations.remove(instance);
    }

    /** Returns the last generation of a released slot; empty if the slot was not released, or is forgotten. */
    Optional<Integer> lastGeneration(long instance) {
        return Optional.ofNullable(generations.get(instance));
    }

    /** Does nothing, because nothing is held. */
    @Override
    public void close() {
        // nothing is held
    }
}

package ferro.control.group;

import ferro.Store;
import ferro.spi.RankContext;
import java.util.Optional;
import java.util.function.Supplier;

/** A context without a store and shared objects, and without settings unless a test has some. */
interface NothingShared extends RankContext {
    @Override
    default Optional<String> setting(String name) {
        return Optional.empty();
    }

    @Override
    default Store store() {
        throw new UnsupportedOperationException("a test of the control has no store");
    }

    @Override
    default <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        throw new UnsupportedOperationException("nothing is shared, asked for " + type);
    }

    @Override
    default <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        return Optional.empty();
    }

    @Override
    default void release(Class<? extends AutoCloseable> type) {
        // nothing is shared
    }
}

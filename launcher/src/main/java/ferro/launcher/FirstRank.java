package ferro.launcher;

import ferro.Store;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * A context as the first rank on this host sees it: for questions about a job that nobody has started yet.
 *
 * @param outer everything else
 */
record FirstRank(RankContext outer) implements RankContext {
    @Override
    public Optional<String> setting(String name) {
        Optional<String> given = outer.setting(name);
        return given.isEmpty() && name.equals(Settings.LOCAL_RANK.name()) ? Optional.of("0") : given;
    }

    @Override
    public long nanoTime() {
        return outer.nanoTime();
    }

    @Override
    public ScheduledExecutorService background() {
        return outer.background();
    }

    @Override
    public Store store() {
        return outer.store();
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        return outer.shared(type, make);
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        return outer.find(type);
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        outer.release(type);
    }
}

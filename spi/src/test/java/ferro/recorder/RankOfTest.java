package ferro.recorder;

import ferro.Store;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** One rank: settings of a map, a clock that a test sets, shared objects with their uses. */
final class RankOfTest implements RankContext {
    private final Map<String, String> settings;
    private final Map<Class<?>, AutoCloseable> shared = new HashMap<>();
    private final Map<Class<?>, Integer> uses = new HashMap<>();
    long now = 5_000;

    RankOfTest(Map<String, String> settings) {
        this.settings = settings;
    }

    @Override
    public Optional<String> setting(String name) {
        return Optional.ofNullable(settings.getOrDefault(name, settings.get(Setting.variable(name))));
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public ScheduledExecutorService background() {
        throw new UnsupportedOperationException("a recorder needs no timers");
    }

    @Override
    public Store store() {
        throw new UnsupportedOperationException("a recorder needs no store");
    }

    @Override
    public synchronized <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        AutoCloseable object = shared.computeIfAbsent(type, key -> make.get());
        uses.merge(type, 1, Integer::sum);
        return type.cast(object);
    }

    @Override
    public synchronized <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        return Optional.ofNullable(shared.get(type)).map(type::cast);
    }

    @Override
    public synchronized void release(Class<? extends AutoCloseable> type) {
        if (uses.merge(type, -1, Integer::sum) == 0) {
            try {
                shared.remove(type).close();
            } catch (Exception failure) {
                throw new IllegalStateException("cannot close the " + type, failure);
            }
        }
    }
}

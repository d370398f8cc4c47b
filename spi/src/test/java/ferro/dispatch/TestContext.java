package ferro.dispatch;

import ferro.Store;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** Settings that a test changes between calls, and shared objects with their uses. */
final class TestContext implements RankContext {
    private final Map<String, String> settings = new ConcurrentHashMap<>();
    private final Map<Class<?>, AutoCloseable> shared = new HashMap<>();
    private final Map<Class<?>, Integer> uses = new HashMap<>();

    TestContext with(String name, String value) {
        settings.put(name, value);
        return this;
    }

    void unset(String name) {
        settings.remove(name);
    }

    int uses(Class<?> type) {
        return uses.getOrDefault(type, 0);
    }

    @Override
    public Optional<String> setting(String name) {
        return Optional.ofNullable(settings.get(name))
                .or(() -> Optional.ofNullable(settings.get(Setting.variable(name))));
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public ScheduledExecutorService background() {
        throw new UnsupportedOperationException("no timers among " + settings);
    }

    @Override
    public Store store() {
        throw new UnsupportedOperationException("no store among " + settings);
    }

    @Override
    public synchronized <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        AutoCloseable object = shared.computeIfAbsent(type, key -> make.get());
        uses.merge(type, 1, Integer::sum);
        return type.cast(object);
    }

    @Override
    public synchronized <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        AutoCloseable object = shared.get(type);
        if (object == null) {
            return Optional.empty();
        }
        uses.merge(type, 1, Integer::sum);
        return Optional.of(type.cast(object));
    }

    @Override
    public synchronized void release(Class<? extends AutoCloseable> type) {
        if (uses.merge(type, -1, Integer::sum) == 0) {
            shared.remove(type);
        }
    }
}

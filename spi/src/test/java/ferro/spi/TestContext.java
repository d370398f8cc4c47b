package ferro.spi;

import ferro.Store;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** Settings that a test changes between calls, a clock that it sets, and shared objects with their uses. */
public class TestContext implements RankContext {
    private final Map<String, String> settings = new ConcurrentHashMap<>();
    private final Map<Class<?>, AutoCloseable> shared = new HashMap<>();
    private final Map<Class<?>, Integer> uses = new HashMap<>();
    public long now = 5_000;

    /** Without settings. */
    public TestContext() {}

    public static TestContext of(Map<String, String> settings) {
        TestContext context = new TestContext();
        context.settings.putAll(settings);
        return context;
    }

    public TestContext with(String name, String value) {
        settings.put(name, value);
        return this;
    }

    public void unset(String name) {
        settings.remove(name);
    }

    public int uses(Class<?> type) {
        return uses.getOrDefault(type, 0);
    }

    @Override
    public Optional<String> setting(String name) {
        return Optional.ofNullable(settings.get(name))
                .or(() -> Optional.ofNullable(settings.get(Setting.variable(name))));
    }

    @Override
    public long nanoTime() {
        return now;
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
        return Optional.ofNullable(shared.get(type)).map(object -> shared(type, () -> type.cast(object)));
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

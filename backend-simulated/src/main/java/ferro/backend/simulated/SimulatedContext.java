package ferro.backend.simulated;

import ferro.Store;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** What one simulated rank has from outside: settings of a map, a clock and timers shared by all ranks, no store. */
final class SimulatedContext implements RankContext {
    private final Map<String, String> settings;
    private final LongSupplier clock;
    private final ScheduledExecutorService background;
    private final Map<Class<?>, Use> shared = new HashMap<>();

    SimulatedContext(Map<String, String> settings, LongSupplier clock, ScheduledExecutorService background) {
        this.settings = settings;
        this.clock = clock;
        this.background = background;
    }

    @Override
    public Optional<String> setting(String name) {
        String value = settings.get(name);
        return Optional.ofNullable(value != null ? value : settings.get(Setting.variable(name)));
    }

    @Override
    public long nanoTime() {
        return clock.getAsLong();
    }

    @Override
    public ScheduledExecutorService background() {
        return background;
    }

    @Override
    public Store store() {
        throw new IllegalStateException(
                "simulated ranks have no store, they are made together: use SimulatedBackend.createGroup(n)");
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        synchronized (shared) {
            Use use = shared.computeIfAbsent(type, key -> new Use(make.get()));
            use.count++;
            return type.cast(use.object);
        }
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        synchronized (shared) {
            Use use = shared.get(type);
            if (use == null) {
                return Optional.empty();
            }
            use.count++;
            return Optional.of(type.cast(use.object));
        }
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        Use last;
        synchronized (shared) {
            Use use = shared.get(type);
            if (use == null || --use.count > 0) {
                return;
            }
            last = shared.remove(type);
        }
        try {
            last.object.close();
        } catch (Exception failure) {
            throw new IllegalStateException("cannot close the shared " + type.getName(), failure);
        }
    }

    /** A shared object and how many use it. */
    private static final class Use {
        private final AutoCloseable object;
        private int count;

        Use(AutoCloseable object) {
            this.object = object;
        }
    }
}

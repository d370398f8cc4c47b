package ferro.backend.nccl;

import ferro.Store;
import ferro.spi.RankContext;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** A context of nothing but settings. */
public record GivenContext(Map<String, String> settings) implements RankContext {
    @Override
    public Optional<String> setting(String name) {
        return Optional.ofNullable(settings.get(name));
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public ScheduledExecutorService background() {
        throw new UnsupportedOperationException("no timers beside " + settings);
    }

    @Override
    public Store store() {
        throw new UnsupportedOperationException("no store beside " + settings);
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        throw new UnsupportedOperationException("no " + type + " beside " + settings);
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        throw new UnsupportedOperationException("no " + type + " beside " + settings);
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        throw new UnsupportedOperationException("no " + type + " beside " + settings);
    }
}

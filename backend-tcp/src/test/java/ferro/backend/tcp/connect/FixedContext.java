package ferro.backend.tcp.connect;

import ferro.Store;
import ferro.spi.RankContext;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** Settings only. */
public record FixedContext(Map<String, String> settings) implements RankContext {
    public static TcpIo io(String kind) {
        return TcpIo.of(new FixedContext(Map.of("ferro.tcp.io", kind)));
    }

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
        throw new UnsupportedOperationException("no background work in " + settings);
    }

    @Override
    public Store store() {
        throw new UnsupportedOperationException("no store in " + settings);
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        throw new UnsupportedOperationException("nothing shared in " + settings);
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        throw new UnsupportedOperationException("nothing shared in " + settings);
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        throw new UnsupportedOperationException("nothing shared in " + settings);
    }
}

package ferro.control.group;

import ferro.Store;
import ferro.spi.RankContext;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/** A context with the clock of the machine, one thread for timers, and no settings. */
final class RealTime implements RankContext, AutoCloseable {
    private final ScheduledExecutorService background = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "timers-of-a-test");
        thread.setDaemon(true);
        return thread;
    });

    @Override
    public Optional<String> setting(String name) {
        return Optional.empty();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public ScheduledExecutorService background() {
        return background;
    }

    @Override
    public Store store() {
        throw new UnsupportedOperationException("a test of the control has no store");
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        throw new UnsupportedOperationException("nothing is shared, asked for " + type);
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        return Optional.empty();
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        // nothing is shared
    }

    @Override
    public void close() {
        background.shutdownNow();
    }
}

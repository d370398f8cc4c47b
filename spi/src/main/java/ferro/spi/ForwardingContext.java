package ferro.spi;

import ferro.Store;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * A context that forwards every call to another one. This class is the base class of contexts that override single
 * methods.
 */
public abstract class ForwardingContext implements RankContext {
    private final RankContext outer;

    /**
     * Creates a context that forwards to another one.
     *
     * @param outer context that receives the calls
     */
    protected ForwardingContext(RankContext outer) {
        this.outer = outer;
    }

    /**
     * Returns the context that receives the calls.
     *
     * @return wrapped context
     */
    protected final RankContext outer() {
        return outer;
    }

    @Override
    public Optional<String> setting(String name) {
        return outer.setting(name);
    }

    @Override
    public Set<String> settingNames() {
        return outer.settingNames();
    }

    @Override
    public Map<String, String> variables() {
        return outer.variables();
    }

    @Override
    public Optional<byte[]> secret() {
        return outer.secret();
    }

    @Override
    public Optional<String> ended() {
        return outer.ended();
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
    public Thread newThread(Runnable task, String name) {
        return outer.newThread(task, name);
    }

    @Override
    public ProcessTable processes() {
        return outer.processes();
    }

    @Override
    public Store store() {
        return outer.store();
    }

    @Override
    public void releaseStore() {
        outer.releaseStore();
    }

    @Override
    public void releaseStore(Duration within) {
        outer.releaseStore(within);
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

    @Override
    public ExitTask.Handle atExit(ExitTask.Stage stage, ExitTask task) {
        return outer.atExit(stage, task);
    }
}

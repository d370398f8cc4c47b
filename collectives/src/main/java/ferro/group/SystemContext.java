package ferro.group;

import ferro.Store;
import ferro.spi.ExitTask;
import ferro.spi.ProcessTable;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The real world: settings from system properties and the environment (or a map), the system's clock, one daemon thread for
 * timers. The only class of ferro that reads the environment.
 *
 * <p>Thread-safe. Many may live in one JVM, one per rank; {@link #ofProcess()} is the process's own.
 */
public final class SystemContext implements RankContext, AutoCloseable {
    private static final long IDLE_SECONDS = 1;
    private static final String PREFIX = "ferro.";
    private static final String VARIABLE_PREFIX = "FERRO_";

    private final UnaryOperator<String> properties;
    private final Supplier<Set<String>> propertyNames;
    private final Map<String, String> variables;
    private final Store store;
    private final Map<Class<?>, Use> shared = new HashMap<>();
    private final ExitTasks exits = new ExitTasks(this::nanoTime);
    private ScheduledThreadPoolExecutor background;
    private ProcessTable processes;

    private SystemContext(
            UnaryOperator<String> properties,
            Supplier<Set<String>> propertyNames,
            Map<String, String> variables,
            Store store) {
        this.properties = properties;
        this.propertyNames = propertyNames;
        this.variables = variables;
        this.store = store;
    }

    /**
     * Returns the context of this process: its properties, as they are whenever one is asked for, and its environment.
     *
     * @return context
     */
    public static SystemContext ofProcess() {
        return new SystemContext(
                name -> name.startsWith(PREFIX) ? System.getProperty(name) : null,
                () -> System.getProperties().stringPropertyNames(),
                System.getenv(),
                null);
    }

    /**
     * Returns a context with settings of its own: neither properties nor the environment are looked at.
     *
     * @param settings by property ({@code ferro.timeout}) or by variable ({@code RANK})
     * @return context
     */
    public static SystemContext of(Map<String, String> settings) {
        return of(settings, null);
    }

    /**
     * Returns a context with settings and a store of its own.
     *
     * @param settings by property or by variable
     * @param store    rendezvous store, which the caller closes; null for the one of {@code ferro.rendezvous}
     * @return context
     */
    public static SystemContext of(Map<String, String> settings, Store store) {
        Map<String, String> own = Map.copyOf(Objects.requireNonNull(settings, "settings"));
        return new SystemContext(own::get, Set::of, own, store);
    }

    @Override
    public Optional<String> setting(String name) {
        String value = properties.apply(Objects.requireNonNull(name, "name"));
        return Optional.ofNullable(value != null ? value : variables.get(Setting.variable(name)));
    }

    @Override
    public Set<String> settingNames() {
        return Stream.concat(propertyNames.get().stream(), variables.keySet().stream())
                .filter(name -> name.startsWith(PREFIX) || name.startsWith(VARIABLE_PREFIX))
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public synchronized ScheduledExecutorService background() {
        if (background == null) {
            background = new ScheduledThreadPoolExecutor(1, task -> {
                Thread thread = new Thread(task, "ferro-background");
                thread.setDaemon(true);
                return thread;
            });
            background.setRemoveOnCancelPolicy(true);
            // contexts of a process are never closed: their thread ends when it has nothing to do
            background.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
            background.allowCoreThreadTimeOut(true);
        }
        return background;
    }

    /**
     * Returns the processes of this host, by {@code /proc}.
     *
     * @return table; the one that knows none where there is no {@code /proc}
     */
    @Override
    public synchronized ProcessTable processes() {
        if (processes == null) {
            processes = LinuxProcesses.under(Path.of("/proc"));
        }
        return processes;
    }

    /**
     * Returns the store that this context was made with; joining opens one by {@code ferro.rendezvous} where there is none.
     *
     * @return store
     * @throws IllegalStateException if it was made without one
     */
    @Override
    public Store store() {
        if (store == null) {
            throw new IllegalStateException("this context has no store of its own: join opens one by ferro.rendezvous");
        }
        return store;
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(make, "make");
        synchronized (shared) {
            Use use = shared.computeIfAbsent(type, key -> new Use(make.get()));
            use.count++;
            return type.cast(use.object);
        }
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        synchronized (shared) {
            Use use = shared.get(Objects.requireNonNull(type, "type"));
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
            Use use = shared.get(Objects.requireNonNull(type, "type"));
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

    /**
     * Has something done by a shutdown hook of this context, which is there only as long as there is something to do.
     *
     * @param stage what it comes before and after
     * @param task  run at most once
     * @return what takes it back
     */
    @Override
    public ExitTask.Handle atExit(ExitTask.Stage stage, ExitTask task) {
        return exits.add(Objects.requireNonNull(stage, "stage"), Objects.requireNonNull(task, "task"));
    }

    /** Ends the timer thread; shared objects are closed by their last user. */
    @Override
    public synchronized void close() {
        if (background != null) {
            background.shutdownNow();
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

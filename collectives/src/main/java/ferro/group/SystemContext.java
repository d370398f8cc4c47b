package ferro.group;

import ferro.Store;
import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.job.RankOfJob;
import ferro.job.Surroundings;
import ferro.spi.ExitTask;
import ferro.spi.ProcessTable;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The context of a real process: settings from system properties and the environment (or a map), the system's clock, and
 * one daemon thread for timers. This is the only class of ferro that reads the environment. If a cluster launcher has
 * started this process, its variables are the source for {@code RANK}, {@code WORLD_SIZE}, {@code LOCAL_RANK},
 * {@code LOCAL_WORLD_SIZE} and, unless they are set, {@code FERRO_JOB_ID} and {@code FERRO_LOCAL_CORES}
 * ({@link ferro.job.JobFinder}).
 *
 * <p>Thread-safe. One JVM may have many contexts, one per rank; {@link #ofProcess()} is the context of the process.
 */
public final class SystemContext implements RankContext, AutoCloseable {
    private static final long IDLE_SECONDS = 1;
    private static final Duration JOIN_TIMEOUT_OF_CLUSTERS = Duration.ofMinutes(10);
    private static final String PREFIX = "ferro.";
    private static final String VARIABLE_PREFIX = "FERRO_";
    /** Includes the settings of ferro whose names belong to other software. */
    private static final Set<String> PROPERTIES = Settings.all().stream()
            .map(Setting::name)
            .filter(name -> !isVariable(name))
            .collect(Collectors.toUnmodifiableSet());

    /** Settings that a cluster launcher may give by its own variables. */
    private static final Set<String> OF_JOB = Set.of(
            Settings.ENV_RANK.name(),
            Settings.ENV_WORLD_SIZE.name(),
            Settings.LOCAL_RANK.name(),
            Settings.LOCAL_WORLD_SIZE.name(),
            Settings.JOB_ID.name(),
            Settings.LOCAL_CORES.name());

    private final UnaryOperator<String> properties;
    private final Supplier<Set<String>> propertyNames;
    private final Map<String, String> variables;
    private final Supplier<OptionalInt> ownCores;
    private final Store store;
    private final Map<Class<?>, SharedUse> shared = new HashMap<>();
    private final ExitTasks exits = new ExitTasks(this::nanoTime);
    private ScheduledThreadPoolExecutor background;
    private ProcessTable processes;
    private JobVariables findings;
    private Map<String, String> foundWith;
    private OptionalInt own;

    private SystemContext(
            UnaryOperator<String> properties,
            Supplier<Set<String>> propertyNames,
            Map<String, String> variables,
            Supplier<OptionalInt> ownCores,
            Store store) {
        this.ownCores = ownCores;
        this.properties = properties;
        this.propertyNames = propertyNames;
        this.variables = variables;
        this.store = store;
    }

    /**
     * Returns the context of this process: its properties, which are read at each request, and its environment.
     *
     * @return context
     */
    public static SystemContext ofProcess() {
        return new SystemContext(
                name -> name.startsWith(PREFIX) || PROPERTIES.contains(name) ? System.getProperty(name) : null,
                () -> System.getProperties().stringPropertyNames(),
                System.getenv(),
                () -> OwnCores.ofThisProcess().count(),
                null);
    }

    /**
     * Returns a context with settings of its own. Neither properties nor the environment are read.
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
        // there may be several ranks in this process, which share its cores
        return new SystemContext(own::get, Set::of, own, OptionalInt::empty, store);
    }

    /** Returns a context of a process that has cores of its own, for tests. */
    static SystemContext withOwnCores(Map<String, String> settings, Supplier<OptionalInt> ownCores) {
        return new SystemContext(settings::get, Set::of, settings, ownCores, null);
    }

    @Override
    public Optional<String> setting(String name) {
        Objects.requireNonNull(name, "name");
        if (OF_JOB.contains(name)) {
            return ofJob(name);
        }
        Optional<String> set = Optional.ofNullable(isVariable(name) ? null : properties.apply(name))
                .or(() -> variable(Setting.variable(name)));
        return set.isEmpty() && name.equals(Settings.JOIN_TIMEOUT.name()) ? joinTimeout() : set;
    }

    private static boolean isVariable(String name) {
        return Setting.variable(name).equals(name);
    }

    /** Returns a variable. An empty variable counts as not set, because scripts leave empty ones. */
    private Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name)).filter(text -> !text.isBlank());
    }

    /**
     * Returns the deadline of joining. Clusters start ranks minutes apart; a deadline of calls that is even longer counts
     * for joining too.
     */
    private Optional<String> joinTimeout() {
        boolean cluster =
                findings().job().filter(found -> found.family().ofACluster()).isPresent();
        boolean longer = cluster && Settings.TIMEOUT.of(this).compareTo(JOIN_TIMEOUT_OF_CLUSTERS) > 0;
        return cluster && !longer ? Optional.of(JOIN_TIMEOUT_OF_CLUSTERS.toMinutes() + "m") : Optional.empty();
    }

    /** Returns the value that a cluster launcher gives by its own variables, else the value that is set. */
    private Optional<String> ofJob(String variable) {
        Optional<String> set = variable(variable);
        Optional<RankOfJob> job = findings().job();
        if (variable.equals(Settings.LOCAL_CORES.name())) {
            return set.or(() -> job.flatMap(this::coresTogether));
        }
        if (job.filter(found -> found.family().ofACluster()).isEmpty()) {
            return set;
        }
        RankOfJob found = job.get();
        return switch (variable) {
            case "RANK" -> Optional.of("" + found.rank());
            case "WORLD_SIZE" -> Optional.of("" + found.worldSize());
            case "LOCAL_RANK" -> text(found.localRank());
            case "LOCAL_WORLD_SIZE" -> text(found.localWorldSize());
            default -> set.or(() -> found.meeting().key());
        };
    }

    /**
     * Returns the number of cores of all ranks of this host. A rank with cores of its own sees only these, while each of
     * the other ranks of its host has as many.
     */
    private synchronized Optional<String> coresTogether(RankOfJob job) {
        if (own == null) {
            own = ownCores.get();
        }
        int ranksHere = job.localWorldSize().orElse(job.worldSize());
        return own.isPresent() ? Optional.of("" + (long) own.getAsInt() * ranksHere) : Optional.empty();
    }

    private static Optional<String> text(OptionalInt number) {
        return number.isPresent() ? Optional.of("" + number.getAsInt()) : Optional.empty();
    }

    /** Returns the job that was found. The search runs once, and again only after the properties have changed. */
    private synchronized JobVariables findings() {
        Map<String, String> given = new HashMap<>();
        for (Setting<?> setting : List.of(Settings.RANK, Settings.WORLD_SIZE)) {
            Optional.ofNullable(properties.apply(setting.name())).ifPresent(text -> given.put(setting.name(), text));
        }
        if (findings == null || !given.equals(foundWith)) {
            Map<String, String> all = new HashMap<>(variables);
            all.putAll(given);
            findings = JobFinder.find(all, Surroundings.ofThisHost());
            foundWith = given;
        }
        return findings;
    }

    @Override
    public Map<String, String> variables() {
        return variables;
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
            // contexts of a process are never closed, so their thread ends when it is idle
            background.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
            background.allowCoreThreadTimeOut(true);
        }
        return background;
    }

    /**
     * Returns the processes of this host, from {@code /proc}.
     *
     * @return table; empty if there is no {@code /proc}
     */
    @Override
    public synchronized ProcessTable processes() {
        if (processes == null) {
            processes = LinuxProcesses.under(Path.of("/proc"));
        }
        return processes;
    }

    /**
     * Returns the store that this context was made with; joining opens one by {@code ferro.rendezvous} if there is none.
     *
     * @return store
     * @throws IllegalStateException if it was made without one
     */
    @Override
    public Store store() {
        if (store == null) {
            throw new IllegalStateException("this context has no store of its own: join opens one by "
                    + Settings.RENDEZVOUS.name()
                    + setting(Settings.RENDEZVOUS.name()).map("="::concat).orElse(", which is not set"));
        }
        return store;
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(make, "make");
        synchronized (shared) {
            SharedUse use = shared.computeIfAbsent(type, key -> new SharedUse(make.get()));
            use.count++;
            return type.cast(use.object);
        }
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        synchronized (shared) {
            SharedUse use = shared.get(Objects.requireNonNull(type, "type"));
            if (use == null) {
                return Optional.empty();
            }
            use.count++;
            return Optional.of(type.cast(use.object));
        }
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        SharedUse last;
        synchronized (shared) {
            SharedUse use = shared.get(Objects.requireNonNull(type, "type"));
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
     * Registers a task for the shutdown hook of this context. The hook is registered only while there are tasks.
     *
     * @param stage place of the task in the order
     * @param task  run at most once
     * @return handle that cancels the task
     */
    @Override
    public ExitTask.Handle atExit(ExitTask.Stage stage, ExitTask task) {
        return exits.add(Objects.requireNonNull(stage, "stage"), Objects.requireNonNull(task, "task"));
    }

    /** Ends the timer thread. Shared objects are closed by their last user. */
    @Override
    public synchronized void close() {
        if (background != null) {
            background.shutdownNow();
        }
    }

    /** A shared object and the number of its uses. */
    private static final class SharedUse {
        private final AutoCloseable object;
        private int count;

        SharedUse(AutoCloseable object) {
            this.object = object;
        }
    }
}

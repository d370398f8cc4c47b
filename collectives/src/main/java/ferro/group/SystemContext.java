package ferro.group;

import ferro.FerroException;
import ferro.Store;
import ferro.job.JobFinder;
import ferro.job.RankOfJob;
import ferro.recorder.FlightRecorder;
import ferro.spi.Deadlines;
import ferro.spi.ExitTask;
import ferro.spi.GroupSpec;
import ferro.spi.LinuxFiles;
import ferro.spi.ProcessTable;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The context of a real process: settings from system properties and the environment (or a map), the system's clock,
 * and one daemon thread for timers. No other class of ferro reads the environment. If a cluster launcher has started
 * this process, the variables of the launcher are the source for {@code RANK}, {@code WORLD_SIZE}, {@code LOCAL_RANK}
 * and {@code LOCAL_WORLD_SIZE}. The variables of the launcher are also the source for {@code FERRO_JOB_ID} and {@code
 * FERRO_LOCAL_CORES}, unless these settings are set ({@link ferro.job.JobFinder}). The number of restarts that a
 * launcher counts is the source for {@code FERRO_GENERATION}, and part of {@code FERRO_JOB_ID}.
 *
 * <p>Programs need no context, because {@link ProcessGroup#join(JoinOptions)} makes a context that ends with the group.
 * This class is for back ends, and for launchers that start ranks in existing processes. With a context, a launcher
 * gets the address of the store before a join ({@link #storeEndpoint}), cancels a join or a rank ({@link #abort}), and
 * gets the recording of a rank ({@link #flightRecord}). A launcher can also join several groups that share port, timer
 * thread and recorder ({@link Groups#join}).
 *
 * <p>Thread-safe. One JVM may have many contexts, one per rank; {@link #ofProcess()} is the context of the process.
 */
public final class SystemContext implements RankContext, AutoCloseable {
    private static final long IDLE_SECONDS = 1;
    private static final Duration JOIN_TIMEOUT_OF_CLUSTERS = Duration.ofMinutes(10);

    private final ContextSettings settings;
    private final JoinOptions options;
    private final Store store;
    private final Map<Class<?>, RefCountedObject> shared = new HashMap<>();
    private final ContextLifecycle life = new ContextLifecycle(this);
    private ScheduledThreadPoolExecutor background;
    private ProcessTable processes;
    /** Whether {@link #close} has ended the executor. */
    private boolean closed;

    private SystemContext(ContextSettings settings, JoinOptions options, Store store) {
        this.settings = settings;
        this.options = options;
        this.store = store;
        shared.put(ContextLifecycle.class, new RefCountedObject(life));
    }

    /**
     * {@return the context of this process with its properties, which are read at each request, and its environment}
     */
    public static SystemContext ofProcess() {
        return of(JoinOptions.ofProcess());
    }

    /**
     * Returns the context of a rank that options describe. A setting that the options do not name comes from the
     * process.
     *
     * {@snippet file="ferro/examples/snippets/JoinOptionsSnippetsTest.java" region="context" :
     *
     * JoinOptions options = JoinOptions.of(rank, worldSize).serveStore("127.0.0.1", "0");
     * try (SystemContext context = SystemContext.of(options)) {
     *     announce(context.storeEndpoint()); // to the other ranks, before this rank joins
     *     ProcessGroup group = context.join();
     *     group.allReduce(gradient, ReduceOp.AVG);
     *     group.close();
     * } // ends what is still open
     * }
     *
     * @param options the rank and the address of the store
     * @return context, which the caller closes
     */
    public static SystemContext of(JoinOptions options) {
        Objects.requireNonNull(options, "options");
        return new SystemContext(ContextSettings.of(options, System.getenv()), options, options.store());
    }

    /**
     * Returns a context with the given settings. The context reads neither properties nor the environment.
     *
     * @param settings values by property ({@code ferro.timeout}) or by variable ({@code RANK})
     * @return context
     */
    public static SystemContext of(Map<String, String> settings) {
        return of(settings, null);
    }

    /**
     * Returns a context with the given settings and the given store.
     *
     * @param settings values by property or by variable
     * @param store    rendezvous store, which the caller closes; null for the store of {@code ferro.rendezvous}
     * @return context
     */
    public static SystemContext of(Map<String, String> settings, Store store) {
        Map<String, String> own = Map.copyOf(Objects.requireNonNull(settings, "settings"));
        // several ranks may be in this process and share its cores
        return new SystemContext(ContextSettings.of(own, OptionalInt::empty), JoinOptions.ofProcess(), store);
    }

    /** Returns a context that behaves as in a process that is bound to some cores, for tests. */
    static SystemContext withOwnCores(Map<String, String> settings, Supplier<OptionalInt> ownCores) {
        return new SystemContext(ContextSettings.of(settings, ownCores), JoinOptions.ofProcess(), null);
    }

    /**
     * Joins a group in a new context, which only the joined group and groups made of it use. The last group that closes
     * also closes the context. If the join fails, the context is closed at once.
     */
    static ProcessGroup joined(JoinOptions options, Function<SystemContext, ProcessGroup> join) {
        SystemContext context = of(options);
        context.life.whenLastCloses(context::close);
        try {
            return join.apply(context);
        } catch (RuntimeException | Error failure) {
            ContextLifecycle.closeAfter(failure, context);
            throw failure;
        }
    }

    /**
     * Joins the group that the options and the settings of this context describe. Every join of ferro ends in this
     * method or in {@link Groups#join}.
     *
     * <p>An interrupt of the calling thread, {@link #abort} and {@link #close} end the join early.
     *
     * @return group of this rank
     * @throws IllegalArgumentException if a setting is missing or invalid, or the back end cannot work in this process
     * @throws IllegalStateException    if this context is closed
     * @throws FerroException           in the same cases as {@link ProcessGroup#join()}; ABORTED after {@link #abort}
     */
    public ProcessGroup join() {
        return Groups.join(spec(), this);
    }

    /**
     * Returns the group that {@link #join()} joins.
     *
     * @return name, rank, number of ranks and deadline
     * @throws IllegalArgumentException if neither the options nor the variables of a launcher give the rank
     */
    public GroupSpec spec() {
        RankOfJob job = JobFinder.of(this).required();
        Duration calls = Deadlines.ofCalls(this);
        return GroupSpec.of(options.group(), job.rank(), job.worldSize(), calls)
                .withJoinTimeout(options.isTimed() && !isJoinTimed() ? calls : joinTimeout());
    }

    /**
     * Returns the deadline of joining for programs that set no deadline in the code.
     *
     * @return {@code ferro.join.timeout}; if that setting is unset, 10 minutes for ranks of a cluster launcher, which
     *     start minutes apart, and 120 s for other ranks
     * @throws IllegalArgumentException if the setting has an invalid value
     */
    public Duration joinTimeout() {
        return settings.isOfACluster() && !isJoinTimed() ? JOIN_TIMEOUT_OF_CLUSTERS : Settings.JOIN_TIMEOUT.of(this);
    }

    private boolean isJoinTimed() {
        return setting(Settings.JOIN_TIMEOUT.name()).isPresent();
    }

    /**
     * Returns the address of the store that the other ranks pass to {@link JoinOptions#storeAt}. The first call on a
     * rank that serves the store ({@link JoinOptions#serveStore}) binds the port. The store closes with this context.
     * While the name of this machine has no address yet, the call waits until the deadline of joining; {@link #abort}
     * and {@link #close} end the wait.
     *
     * @return host and port, {@code 10.0.0.1:29500}
     * @throws IllegalArgumentException if a setting is invalid
     * @throws IllegalStateException    if this context is closed
     * @throws UnsupportedOperationException if this rank does not serve the store by {@link JoinOptions#serveStore}
     * @throws FerroException           RENDEZVOUS if no port can be bound, UNAUTHENTICATED if other machines can reach
     *     the address and no secret is set, ABORTED after {@link #abort}
     */
    public String storeEndpoint() {
        Optional<String> endpoint = options.endpoint();
        return endpoint.isPresent() ? endpoint.get() : life.served(spec());
    }

    /**
     * Ends all joins in progress with ABORTED and fails open groups on all ranks with the same cause. The other ranks
     * of a join receive the cause if they have already found this rank. Any thread may call this method; idempotent.
     * After this call, no group can be joined in this context.
     *
     * @param cause reason; null without a reason
     */
    public void abort(Throwable cause) {
        life.abort(cause);
    }

    /** {@return a text that says why this context was aborted or closed; empty while groups can be joined} */
    @Override
    public Optional<String> ended() {
        return life.ended();
    }

    /**
     * Returns the flight record of this rank, for a launcher that collects the records of its ranks. {@code ferro
     * analyze} reads each record from a file. Call this method after a failure and before {@link #close}. Any thread
     * may call this method.
     *
     * @param mostBytes maximum length in bytes; the oldest operations and events are left out of a longer record
     * @return content of the file that {@link ProcessGroup#writeFlightRecord} writes; empty if no group is open in this
     *     context, or {@code ferro.recorder.entries=0} has turned the recorder off
     * @throws IllegalArgumentException if the description of the groups alone is longer than {@code mostBytes}
     */
    public Optional<byte[]> flightRecord(int mostBytes) {
        Optional<FlightRecorder> recorder = find(FlightRecorder.class);
        try {
            return recorder.flatMap(found -> found.bytes(mostBytes, "asked for by the launcher"));
        } finally {
            recorder.ifPresent(found -> release(FlightRecorder.class));
        }
    }

    @Override
    public Optional<byte[]> secret() {
        return options.secret();
    }

    @Override
    public Optional<String> setting(String name) {
        return settings.find(Objects.requireNonNull(name, "name"));
    }

    @Override
    public Map<String, String> variables() {
        return settings.variables();
    }

    @Override
    public Set<String> settingNames() {
        return settings.names();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    /**
     * {@return the executor of this context, with one daemon thread} After {@link #close}, the executor rejects all
     * tasks.
     */
    @Override
    public synchronized ScheduledExecutorService background() {
        if (background == null) {
            background = new ScheduledThreadPoolExecutor(1, task -> {
                Thread thread = new Thread(task, "ferro-background");
                thread.setDaemon(true);
                return thread;
            });
            background.setRemoveOnCancelPolicy(true);
            // contexts of a process are never closed, so an idle timer thread ends
            background.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
            background.allowCoreThreadTimeOut(true);
        }
        if (closed) {
            background.shutdownNow();
        }
        return background;
    }

    /** {@return the processes of this host, from {@code /proc}; an empty table without {@code /proc}} */
    @Override
    public synchronized ProcessTable processes() {
        if (processes == null) {
            processes = LinuxProcesses.of(LinuxFiles.HOST, Settings.HOST.find(this));
        }
        return processes;
    }

    /**
     * Returns the store that this context was made with. If this context was made without a store, a join opens the
     * store of {@code ferro.rendezvous}.
     *
     * @return store
     * @throws IllegalStateException if this context was made without a store
     */
    @Override
    public Store store() {
        if (store == null) {
            throw new IllegalStateException(
                    "this context was made without a store: join opens the store that is named by "
                            + Settings.RENDEZVOUS.name()
                            + setting(Settings.RENDEZVOUS.name())
                                    .map("="::concat)
                                    .orElse(", which is not set"));
        }
        return store;
    }

    @Override
    public <T extends AutoCloseable> T shared(Class<T> type, Supplier<T> make) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(make, "make");
        synchronized (shared) {
            RefCountedObject use = shared.get(type);
            if (use == null) {
                use = new RefCountedObject(make.get()); // the new object may itself share other objects
                shared.put(type, use);
            }
            use.count++;
            return type.cast(use.object);
        }
    }

    @Override
    public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
        synchronized (shared) {
            RefCountedObject use = shared.get(Objects.requireNonNull(type, "type"));
            if (use == null) {
                return Optional.empty();
            }
            use.count++;
            return Optional.of(type.cast(use.object));
        }
    }

    @Override
    public void release(Class<? extends AutoCloseable> type) {
        RefCountedObject last;
        synchronized (shared) {
            RefCountedObject use = shared.get(Objects.requireNonNull(type, "type"));
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
     * Registers a task for the shutdown hook of this context. The hook is registered only while tasks are registered.
     *
     * @param stage stage of the shutdown in which the task runs
     * @param task  task, which runs at most once
     * @return handle that cancels the task
     */
    @Override
    public ExitTask.Handle atExit(ExitTask.Stage stage, ExitTask task) {
        return life.atExit(Objects.requireNonNull(stage, "stage"), Objects.requireNonNull(task, "task"));
    }

    /**
     * Ends the joins in progress, closes the groups that were joined or made in this context, newest first, and ends
     * the store that this context serves and the timer thread. A group with unfinished work is aborted on all ranks; a
     * group without unfinished work is closed normally. A failure that no call has thrown is only logged. To wait for
     * the work of a group and to get a failure that no call has thrown, close the group itself. Idempotent.
     */
    @Override
    public void close() {
        try {
            life.close();
        } finally {
            endBackground();
        }
    }

    private synchronized void endBackground() {
        closed = true;
        if (background != null) {
            background.shutdownNow();
        }
    }

    /** An object that several users share, and the number of its uses. */
    private static final class RefCountedObject {
        private final AutoCloseable object;
        private int count;

        RefCountedObject(AutoCloseable object) {
            this.object = object;
        }
    }
}

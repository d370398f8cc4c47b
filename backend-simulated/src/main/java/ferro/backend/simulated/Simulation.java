package ferro.backend.simulated;

import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;
import java.util.stream.LongStream;

/**
 * A run of several ranks on one thread, under a virtual clock, in an order drawn from a seed. The simulation runs the
 * real engine. Each link delays data. Messages of different links may overtake each other. Ranks make progress in
 * random order. The same seed gives the same run.
 *
 * <p>The scripts of ranks call {@code submit} and {@code ...Async}. Code that runs after an operation is chained to
 * {@code Work.completion()}, and the simulation also runs this code. A blocking call in a script throws
 * IllegalStateException. Tests take their seeds from {@link #seeds}, so that {@code -Dferro.seed=N} replays one seed:
 * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="simulation" :
 *
 * Simulation.seeds(100).forEach(seed -> {
 *     int[][] data = {{3}, {4}};
 *     Simulation.of(2, seed)
 *             .onEveryRank(group -> group.allReduceAsync(data[group.rank()], ReduceOp.SUM))
 *             .check(() -> assertArrayEquals(new int[][] {{7}, {7}}, data))
 *             .run();
 * });
 * }
 *
 * <p>Each simulation runs once, and only one thread may use a simulation.
 */
public final class Simulation {
    private static final long LINGER_MILLIS = 150;
    private static final long LINGER_NANOS = Duration.ofMillis(LINGER_MILLIS).toNanos();
    private static final long CLOSE_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long LONGEST_NANOS = Duration.ofHours(24).toNanos();

    private final long seed;
    private final EventQueue events;
    private final SeededMedium medium;
    private final NetworkState network;
    private final List<SteppedRank> ranks = new ArrayList<>();
    private final List<Fault> ahead = new ArrayList<>();
    private final List<Fault> struck = new ArrayList<>();
    private final List<CompletionStage<?>> watched = new ArrayList<>();
    private final List<Runnable> checks = new ArrayList<>();
    private IntConsumer observer = rank -> {};
    private boolean mayFail;
    private boolean started;

    /** Creates a simulation in which a test may replace the medium and the failure policy. */
    Simulation(int worldSize, long seed, Map<String, String> settings, SteppedRank.EngineInputs making) {
        this.seed = seed;
        this.events = new EventQueue(seed, worldSize);
        this.medium = new SeededMedium(events, worldSize, ranks::get);
        this.network = new NetworkState(worldSize, medium);
        Map<String, String> small = SimulatedContext.withSmallRecorder(settings, worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            VirtualTimeExecutor background = new VirtualTimeExecutor(events, rank);
            RankContext context = new SimulatedContext(rank, small, events::nanoTime, background);
            SteppedRank stepped = new SteppedRank(events, rank, background);
            ranks.add(stepped);
            GroupSpec spec = GroupSpec.of("simulated", rank, worldSize, Deadlines.ofCalls(context));
            stepped.join(network, spec, context, making);
        }
    }

    /** The script of one rank, which submits operations and chains the code that runs after the operations. */
    @FunctionalInterface
    public interface Script {
        /**
         * Starts the rank.
         *
         * @param group group of all ranks, as this rank has joined it
         */
        void run(ProcessGroup group);
    }

    /**
     * The result of a run.
     *
     * @param traceHash   64-bit hash of all events, in order; equal for equal seeds and scripts
     * @param virtualTime duration of the run by the virtual clock of the ranks
     * @param steps       number of events
     */
    public record Result(long traceHash, Duration virtualTime, long steps) {}

    /**
     * Creates a simulation with default settings.
     *
     * @param worldSize number of ranks
     * @param seed      seed of all random choices
     * @return simulation, not started
     * @throws IllegalArgumentException if {@code worldSize} is less than 1
     */
    public static Simulation of(int worldSize, long seed) {
        return of(worldSize, seed, Map.of());
    }

    /**
     * Creates a simulation.
     *
     * @param worldSize number of ranks
     * @param seed      seed of all random choices
     * @param settings  values by property, for example {@code ferro.algorithm}; no other settings are read
     * @return simulation, not started
     * @throws IllegalArgumentException if {@code worldSize} is less than 1, or a setting is invalid
     */
    public static Simulation of(int worldSize, long seed, Map<String, String> settings) {
        Objects.requireNonNull(settings, "settings");
        if (worldSize < 1) {
            throw new IllegalArgumentException("a simulation needs at least 1 rank, found " + worldSize);
        }
        return new Simulation(worldSize, seed, Map.copyOf(settings), SteppedRank.EngineInputs.SHIPPED);
    }

    /**
     * {@return the seeds that a test should run: the value of {@code ferro.seed} if it is set, else 1 to {@code count}}
     *
     * @param count number of seeds
     * @throws IllegalArgumentException if {@code ferro.seed} is not a number
     */
    public static LongStream seeds(int count) {
        return seeds(count, SystemContext.ofProcess());
    }

    static LongStream seeds(int count, RankContext context) {
        return Settings.SEED.find(context).map(LongStream::of).orElseGet(() -> LongStream.rangeClosed(1, count));
    }

    /**
     * Adds a script of a rank. Several scripts of one rank start in an order that is drawn from the seed.
     *
     * @param rank   rank that runs the script
     * @param script script to run
     * @return this
     * @throws InvalidRankException if the simulation has no such rank
     * @throws IllegalStateException if the simulation has run
     */
    public Simulation onRank(int rank, Script script) {
        Objects.requireNonNull(script, "script");
        InvalidRankException.check(rank, ranks.size());
        refuseIfStarted("onRank(" + rank + ")");
        ranks.get(rank).start(script);
        return this;
    }

    /**
     * Adds a script that all ranks run.
     *
     * @param script script to run
     * @return this
     * @throws IllegalStateException if the simulation has run
     */
    public Simulation onEveryRank(Script script) {
        for (int rank = 0; rank < ranks.size(); rank++) {
            onRank(rank, script);
        }
        return this;
    }

    /**
     * Adds faults. With faults, operations may fail. The scripts and the checks decide which failures are wrong.
     *
     * @param faults faults in any order
     * @return this
     * @throws InvalidRankException if the simulation has no rank that a fault names
     * @throws IllegalStateException if the simulation has run
     */
    public Simulation faults(List<Fault> faults) {
        Objects.requireNonNull(faults, "faults");
        refuseIfStarted("faults");
        faults.forEach(this::add);
        return mayFail();
    }

    void add(Fault fault) {
        if (fault instanceof Fault.Crash crash) {
            checkRanks(crash.rank());
        } else if (fault instanceof Fault.Pause pause) {
            checkRanks(pause.rank());
        } else if (fault instanceof Fault.OneWayPartition cut) {
            checkRanks(cut.from(), cut.to());
        } else if (fault instanceof Fault.Drop drop) {
            checkRanks(drop.one(), drop.other());
        } else if (fault instanceof Fault.Duplicate twice) {
            checkRanks(twice.from(), twice.to());
        }
        ahead.add(fault);
        ahead.sort(Comparator.comparingLong(Fault::step));
    }

    private void checkRanks(int... named) {
        for (int rank : named) {
            InvalidRankException.check(rank, ranks.size());
        }
    }

    /**
     * Accepts that operations fail, for example because a script aborts a group. {@link #run} then continues for
     * {@value #LINGER_MILLIS} ms of virtual time after the end of the last operation, so that checks see the failure on
     * which all ranks have agreed.
     *
     * @return this
     */
    public Simulation mayFail() {
        mayFail = true;
        return this;
    }

    /** {@return the virtual time since the start, which is the same for all ranks} */
    public Duration elapsed() {
        return Duration.ofNanos(events.elapsed());
    }

    /**
     * Makes the run fail if a stage fails or never ends. Without this call, a failure in code that a script has chained
     * to an operation is lost.
     *
     * @param stage last stage of a chain
     */
    public void watch(CompletionStage<?> stage) {
        watched.add(Objects.requireNonNull(stage, "stage"));
    }

    /**
     * Creates a group of some ranks without waiting. Replaces {@code ProcessGroup.newGroup}, which a script must not
     * call. Exactly the ranks of the new group must call this method. Each rank creates one group at a time.
     *
     * @param parent a group of this simulation, as this rank has joined it
     * @param ranks  ranks of {@code parent} that form the new group, including this rank
     * @return the new group, or a FerroException; completed under the virtual clock
     * @throws IllegalArgumentException if {@code parent} is not a group of this simulation, or the ranks form no group
     */
    public CompletionStage<ProcessGroup> newGroup(ProcessGroup parent, int... ranks) {
        Objects.requireNonNull(parent, "parent");
        Objects.requireNonNull(ranks, "ranks");
        for (SteppedRank rank : this.ranks) {
            if (rank.has(parent)) {
                return rank.newGroup(parent, ranks.clone());
            }
        }
        throw new IllegalArgumentException("newGroup(" + Arrays.toString(ranks)
                + ") on a group that does not belong to this simulation, found " + parent.backend());
    }

    /**
     * Adds a check of the results, which runs when all operations have ended.
     *
     * @param check throws if a result is wrong
     * @return this
     */
    public Simulation check(Runnable check) {
        checks.add(Objects.requireNonNull(check, "check"));
        return this;
    }

    /**
     * Runs all scripts to their end on this thread. Closes all groups at the end, and checks that no part of a group
     * remains.
     *
     * @return result of the run
     * @throws AssertionError if a script, an operation, a watched stage or a check fails, if an operation never ends,
     *     or if a part of a group remains; the message gives the seed
     * @throws IllegalStateException if the simulation has run
     */
    public Result run() {
        refuseIfStarted("run");
        started = true;
        try {
            while (events.isPressed() || !isDone()) {
                turn();
            }
            if (mayFail) {
                linger();
            } else {
                ranks.forEach(SteppedRank::verify);
            }
            watched.forEach(Simulation::verify);
            checks.forEach(Runnable::run);
            end();
        } catch (RuntimeException | AssertionError failure) {
            throw new AssertionError(describe(failure), failure);
        }
        return new Result(events.hash(), Duration.ofNanos(events.elapsed()), events.steps());
    }

    /** Applies the faults that are due before the next step. */
    void strike() {
        while (!ahead.isEmpty() && ahead.get(0).step() <= events.steps()) {
            Fault fault = ahead.remove(0);
            struck.add(fault);
            events.trace(-fault.step());
            strike(fault);
        }
    }

    private void strike(Fault fault) {
        if (fault instanceof Fault.Crash crash) {
            crash(crash.rank());
        } else if (fault instanceof Fault.Pause pause) {
            events.pause(pause.rank(), Deadlines.nanos(pause.length()));
        } else if (fault instanceof Fault.OneWayPartition cut) {
            medium.cut(cut.from(), cut.to());
        } else if (fault instanceof Fault.Drop drop) {
            medium.drop(drop.one(), drop.other());
        } else if (fault instanceof Fault.Duplicate twice) {
            medium.duplicate(twice.from(), twice.to());
        }
    }

    private void crash(int rank) {
        if (!ranks.get(rank).isDead()) {
            ranks.get(rank).die();
            events.end(rank);
            network.kill(rank);
        }
    }

    private void turn() {
        if (events.isEmpty() || events.elapsed() > LONGEST_NANOS) {
            throw new IllegalStateException("operations are in flight, but "
                    + (events.isEmpty()
                            ? "no event is left"
                            : "the limit of " + LONGEST_NANOS / 1000 + " virtual microseconds is exceeded"));
        }
        strike();
        events.next();
        observer.accept(events.owner());
    }

    /** Continues until all ranks have had time to detect the faults, including faults that happen during this time. */
    private void linger() {
        int before;
        do {
            before = struck.size();
            turnUntil(events.elapsed() + LINGER_NANOS);
        } while (struck.size() != before);
    }

    private void turnUntil(long elapsed) {
        while (events.isPressed() || events.nextAt() <= elapsed) {
            turn();
        }
    }

    private long stoodStillNanos() {
        return struck.stream()
                .mapToLong(fault ->
                        fault instanceof Fault.Pause pause ? pause.length().toNanos() : 0)
                .sum();
    }

    /** Closes the groups of all living ranks. After this call, only periodic work that never ends may be left. */
    private void end() {
        for (SteppedRank rank : ranks) {
            if (!rank.isDead()) {
                close(rank);
            }
        }
        turnUntil(events.elapsed() + LINGER_NANOS);
        if (!network.leaked().isEmpty()) {
            // a rank that was cut off gets no answer to its goodbye, so its close takes the full time limit; a rank
            // that stood still reaches this limit later
            turnUntil(events.elapsed() + CLOSE_NANOS);
            turnUntil(events.elapsed() + stoodStillNanos());
        }
        StringBuilder left = new StringBuilder(network.leaked());
        for (int rank = 0; rank < ranks.size(); rank++) {
            int timers = ranks.get(rank).openTimers();
            if (timers > 0) {
                left.append("rank " + rank + " has " + timers + " timers");
            }
        }
        if (left.length() > 0) {
            throw new IllegalStateException("all groups are closed, but " + left);
        }
    }

    private void close(SteppedRank rank) {
        try {
            rank.close();
        } catch (FerroException failure) {
            if (!mayFail) {
                throw failure;
            }
        }
    }

    /** Calls {@code afterStep} with the owner of each step, directly after the step. For tests. */
    void observe(IntConsumer afterStep) {
        observer = afterStep;
    }

    /** Returns the group of all ranks, as the rank {@code rank} has joined it. For tests. */
    ProcessGroup group(int rank) {
        return ranks.get(rank).group();
    }

    /** Returns the faults that have happened so far. For tests. */
    List<Fault> struck() {
        return struck;
    }

    boolean isDead(int rank) {
        return ranks.get(rank).isDead();
    }

    private boolean isDone() {
        for (SteppedRank rank : ranks) {
            if (!rank.isDone()) {
                return false;
            }
        }
        return true;
    }

    private static void verify(CompletionStage<?> stage) {
        CompletableFuture<?> end = stage.toCompletableFuture();
        if (!end.isDone()) {
            throw new IllegalStateException("a watched stage has not ended, but nothing is in flight: " + stage);
        }
        try {
            end.join();
        } catch (CompletionException failure) {
            throw failure.getCause() instanceof RuntimeException cause ? cause : failure;
        }
    }

    private String describe(Throwable failure) {
        return "simulation of " + ranks.size() + " ranks with seed " + seed + " failed after " + events.steps()
                + " steps and " + events.elapsed() / 1000 + " virtual microseconds: " + failure
                + "; replay it with -Dferro.seed=" + seed;
    }

    private void refuseIfStarted(String call) {
        if (started) {
            throw new IllegalStateException(call + " on a simulation with seed " + seed
                    + " that has already run: make another simulation, because a run cannot be continued");
        }
    }
}

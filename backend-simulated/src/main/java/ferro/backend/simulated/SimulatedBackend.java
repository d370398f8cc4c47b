package ferro.backend.simulated;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.group.ProcessGroup;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingBackend;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One rank of a group whose ranks are all in one JVM. The rank has an engine over channels in memory, without sockets,
 * and each rank has one thread. The class is for unit tests and for experiments.
 *
 * <p>{@link #run} runs code on all ranks of a group, each on its own thread:
 *
 * {@snippet file="ferro/examples/snippets/SimulatedRanksSnippetsTest.java" region="run" :
 *
 * SimulatedBackend.run(3, group -> {
 *     float[] gradient = {group.rank() + 1, 10};
 *     group.allReduce(gradient, ReduceOp.SUM);
 *     assertArrayEquals(new float[] {6, 30}, gradient);
 * });
 * }
 *
 * <p>{@link #runAll} also returns the result of each rank. {@link #kill} ends a rank as the death of its process does.
 * {@link #createGroup} returns the back ends of all ranks to a program that creates its own threads. With
 * {@link #createGroup}, each rank needs a separate thread, platform or virtual. Threads of ferro and links are created
 * only when they are needed.
 */
public final class SimulatedBackend extends ForwardingBackend {
    /** Name of the group of all ranks of a simulated group. */
    static final String NAME = "simulated";

    private static final long IDLE_THREAD_MILLIS = 100;

    private final SimulatedTransport transport;
    private final Consumer<Work> submitted;

    /** Makes a rank that passes its operations to {@code submitted}. */
    SimulatedBackend(CollectiveBackend engine, SimulatedTransport transport, Consumer<Work> submitted) {
        super(engine);
        this.transport = transport;
        this.submitted = submitted;
    }

    /** The code of one rank, for {@link #run}. */
    @FunctionalInterface
    public interface RankBody {
        /**
         * Runs on the thread of the rank.
         *
         * @param group group of this rank, which {@code run} closes
         * @throws Exception any failure of the rank
         */
        void run(ProcessGroup group) throws Exception;
    }

    /**
     * The code of one rank, for {@link #runAll}.
     *
     * @param <T> type of the result
     */
    @FunctionalInterface
    public interface ResultBody<T> {
        /**
         * Runs on the thread of the rank.
         *
         * @param group group of this rank, which {@code runAll} closes
         * @return result of this rank, may be null
         * @throws Exception any failure of the rank
         */
        T apply(ProcessGroup group) throws Exception;
    }

    /**
     * Runs code on all ranks of a group, with default settings. Each rank has a separate daemon thread. The call
     * returns when all ranks have ended, and closes all groups.
     *
     * <p>If the code fails on one rank, the group of the rank is aborted, so that the other ranks fail too. This method
     * throws the failure that happened first. If the first failure blames a rank that has failed too, this method
     * throws the failure of the blamed rank. All other failures are suppressed exceptions of the thrown failure.
     *
     * <p>The run of all ranks has a deadline, the timeout of the group ({@code ferro.timeout}, 120 s) plus 1 s. Ranks
     * that still run after the deadline, or 1 s after the failure of another rank, are interrupted. A rank that still
     * runs after the interrupt has failed with {@link FerroException.Code#TIMED_OUT TIMED_OUT}, and the exception has
     * the stack of the rank's thread. A thread that still runs 1 s after the interrupt is abandoned.
     * {@link #run(int, Map, RankBody)} accepts a different {@code ferro.timeout}.
     *
     * @param worldSize number of ranks
     * @param body      code of each rank
     * @throws AssertionError if the code fails on a rank; the message names the rank, and the cause is the failure of
     *     the rank
     * @throws IllegalArgumentException if {@code worldSize} is less than 1
     * @throws FerroException INTERRUPTED if the calling thread is interrupted; then the ranks are interrupted too
     */
    public static void run(int worldSize, RankBody body) {
        run(worldSize, Map.of(), body);
    }

    /**
     * Runs code on all ranks of a group, as {@link #run(int, RankBody)} does, with settings.
     *
     * @param worldSize number of ranks
     * @param settings  values by property, such as {@code ferro.timeout}; system properties and environment are ignored
     * @param body      code of each rank
     * @throws AssertionError if the code fails on a rank; the message names the rank, and the cause is the failure of
     *     the rank
     * @throws IllegalArgumentException if {@code worldSize} is less than 1, or a setting is invalid
     * @throws FerroException INTERRUPTED if the calling thread is interrupted; then the ranks are interrupted too
     */
    public static void run(int worldSize, Map<String, String> settings, RankBody body) {
        Objects.requireNonNull(body, "body");
        runAll(worldSize, settings, group -> {
            body.run(group);
            return null;
        });
    }

    /**
     * Runs code on all ranks of a group, as {@link #run(int, RankBody)} does, and returns the results.
     *
     * {@snippet file="ferro/examples/snippets/SimulatedRanksSnippetsTest.java" region="runAll" :
     *
     * List<Float> sums = SimulatedBackend.runAll(3, group -> {
     *     float[] number = {group.rank()};
     *     group.allReduce(number, ReduceOp.SUM);
     *     return number[0];
     * });
     * assertEquals(List.of(3f, 3f, 3f), sums);
     * }
     *
     * @param <T>       type of the results
     * @param worldSize number of ranks
     * @param body      code of each rank
     * @return results by rank; null for a rank that was {@linkplain #kill killed} before its code returned
     * @throws AssertionError if the code fails on a rank; the message names the rank, and the cause is the failure of
     *     the rank
     * @throws IllegalArgumentException if {@code worldSize} is less than 1
     * @throws FerroException INTERRUPTED if the calling thread is interrupted; then the ranks are interrupted too
     */
    public static <T> List<T> runAll(int worldSize, ResultBody<T> body) {
        return runAll(worldSize, Map.of(), body);
    }

    /**
     * Runs code on all ranks of a group, as {@link #run(int, RankBody)} does, with settings, and returns the results.
     *
     * @param <T>       type of the results
     * @param worldSize number of ranks
     * @param settings  values by property, such as {@code ferro.timeout}; system properties and environment are ignored
     * @param body      code of each rank
     * @return results by rank; null for a rank that was {@linkplain #kill killed} before its code returned
     * @throws AssertionError if the code fails on a rank; the message names the rank, and the cause is the failure of
     *     the rank
     * @throws IllegalArgumentException if {@code worldSize} is less than 1, or a setting is invalid
     * @throws FerroException INTERRUPTED if the calling thread is interrupted; then the ranks are interrupted too
     */
    public static <T> List<T> runAll(int worldSize, Map<String, String> settings, ResultBody<T> body) {
        Objects.requireNonNull(body, "body");
        return new SimulatedRun<>(createGroup(worldSize, settings), settings, body).results();
    }

    /**
     * Creates a group of ranks in this JVM, with default settings.
     *
     * @param worldSize number of ranks
     * @return back ends by rank; the caller closes each back end
     * @throws IllegalArgumentException if {@code worldSize} is less than 1
     */
    public static List<SimulatedBackend> createGroup(int worldSize) {
        return createGroup(worldSize, Map.of());
    }

    /**
     * Creates a group of ranks in this JVM.
     *
     * @param worldSize number of ranks
     * @param settings  values by property, such as {@code ferro.timeout}; system properties and environment are ignored
     * @return back ends by rank; the caller closes each back end
     * @throws IllegalArgumentException if {@code worldSize} is less than 1, or a setting is invalid
     */
    public static List<SimulatedBackend> createGroup(int worldSize, Map<String, String> settings) {
        Objects.requireNonNull(settings, "settings");
        if (worldSize < 1) {
            throw new IllegalArgumentException("a simulated group needs at least 1 rank, found " + worldSize);
        }
        return createGroup(Collections.nCopies(worldSize, Map.copyOf(settings)));
    }

    /** Creates a group whose ranks have different settings. The list has the settings of each rank. */
    static List<SimulatedBackend> createGroup(List<Map<String, String>> settingsByRank) {
        int worldSize = settingsByRank.size();
        ScheduledExecutorService background = background();
        NetworkState network = new NetworkState(worldSize, new ThreadedMedium(background, System::nanoTime));
        List<SimulatedBackend> ranks = new ArrayList<>(worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            // threads of one process stand still and die together, so they need no heartbeats
            Map<String, String> settings =
                    SimulatedContext.withDefault(settingsByRank.get(rank), Settings.HEARTBEAT_INTERVAL, "0s");
            settings = SimulatedContext.withSmallRecorder(settings, worldSize);
            RankContext context = new SimulatedContext(rank, settings, System::nanoTime, background);
            ranks.add(join(GroupSpec.of(NAME, rank, worldSize, Deadlines.ofCalls(context)), context, network));
        }
        return List.copyOf(ranks);
    }

    /** Creates a group of one rank, in the caller's context. */
    static SimulatedBackend alone(GroupSpec group, RankContext context) {
        return join(group, context, new NetworkState(1, new ThreadedMedium(context.background(), context::nanoTime)));
    }

    private static SimulatedBackend join(GroupSpec group, RankContext context, NetworkState network) {
        SimulatedTransport transport = network.join(group.name(), group.rank());
        CollectiveBackend engine = CollectiveEngine.over(transport, group, context);
        // no other rank receives this abort: it only ends the calls of the killed rank
        network.whenKilled(group.rank(), () -> engine.abort(new IllegalStateException(killedText(group.rank()))));
        return new SimulatedBackend(engine, transport, work -> {});
    }

    static String killedText(int rank) {
        return "simulated rank " + rank + " was killed";
    }

    /**
     * Returns an executor for all ranks of a group. Its only thread is a daemon, and ends while the executor has no
     * work.
     */
    private static ScheduledExecutorService background() {
        ScheduledThreadPoolExecutor background = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "ferro-" + NAME + "-background");
            thread.setDaemon(true);
            return thread;
        });
        background.setRemoveOnCancelPolicy(true);
        background.setKeepAliveTime(IDLE_THREAD_MILLIS, TimeUnit.MILLISECONDS);
        background.allowCoreThreadTimeOut(true);
        return background;
    }

    /**
     * {@return the back end of a simulated group, for {@link #kill}}
     *
     * @param group group of {@link #run}, {@link #runAll} or {@link #createGroup}
     * @throws IllegalArgumentException if the group is not simulated, or comes from {@code newGroup} or {@code split}
     */
    public static SimulatedBackend of(ProcessGroup group) {
        if (Objects.requireNonNull(group, "group").backend() instanceof SimulatedBackend simulated) {
            return simulated;
        }
        throw new IllegalArgumentException("need a group of SimulatedBackend.run or createGroup, found a group over "
                + group.backend().getClass().getName());
    }

    /**
     * Kills a rank of this group. The killed rank ends without a goodbye, as after the death of a process. The other
     * ranks get PEER_LOST, and the pending and later calls of the killed rank fail. In {@link #run}, the thread of the
     * killed rank is interrupted, and failures of the killed rank do not count. Any thread may call this method;
     * idempotent.
     *
     * {@snippet file="ferro/examples/snippets/SimulatedRanksSnippetsTest.java" region="kill" :
     *
     * SimulatedBackend.run(3, group -> {
     *     if (group.rank() == 2) {
     *         SimulatedBackend.of(group).kill(2);
     *         return;
     *     }
     *     FerroException failure = assertThrows(FerroException.class, group::barrier);
     *     assertEquals(Code.PEER_LOST, failure.code());
     * });
     * }
     *
     * @param rank rank to kill, which may be this rank or another rank
     * @throws InvalidRankException if the group has no such rank
     * @throws UnsupportedOperationException in a {@link Simulation}, whose ranks die by {@link Fault.Crash}
     */
    public void kill(int rank) {
        InvalidRankException.check(rank, transport.worldSize());
        if (!(transport.network().medium() instanceof ThreadedMedium)) {
            throw new UnsupportedOperationException(
                    "rank " + rank + " of a Simulation cannot be killed: use Simulation.faults with a Fault.Crash");
        }
        transport.network().kill(transport.worldRank(rank));
    }

    /** Adds a task that runs when this rank is killed. */
    void whenKilled(Runnable task) {
        transport.network().whenKilled(transport.rank(), task);
    }

    boolean isKilled() {
        return transport.network().isDead(transport.rank());
    }

    private Work submitted(Work work) {
        submitted.accept(work);
        return work;
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return submitted(super.submit(call, options));
    }

    @Override
    public Work submit(Message message, CallOptions options) {
        return submitted(super.submit(message, options));
    }
}

package ferro.backend.simulated;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.spi.Deadlines;
import ferro.spi.ForwardingBackend;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One rank of a group inside one JVM: the engine over channels in memory, without sockets, with one thread per rank.
 *
 * <p>For tests and for trying things out. Each rank must be used from a thread of its own, platform or virtual, as ranks
 * of different processes are. No thread and no link is made before it is needed.
 */
public final class SimulatedBackend extends ForwardingBackend {
    private static final String NAME = "simulated";
    private static final long IDLE_THREAD_MILLIS = 100;

    private final SimulatedTransport transport;
    private final Network network;
    private final Consumer<Work> submitted;

    /** Makes a rank that passes its operations to {@code submitted}. */
    SimulatedBackend(
            CollectiveBackend engine, SimulatedTransport transport, Network network, Consumer<Work> submitted) {
        super(engine);
        this.transport = transport;
        this.network = network;
        this.submitted = submitted;
    }

    /**
     * Makes a group of ranks in this JVM, with default settings.
     *
     * @param worldSize number of ranks
     * @return back ends, index = rank; close each
     * @throws IllegalArgumentException if there is not at least one rank
     */
    public static List<SimulatedBackend> createGroup(int worldSize) {
        return createGroup(worldSize, Map.of());
    }

    /**
     * Makes a group of ranks in this JVM.
     *
     * @param worldSize number of ranks
     * @param settings  by property, for example {@code ferro.timeout}; system properties and the environment are not read
     * @return back ends, index = rank; close each
     * @throws IllegalArgumentException if there is not at least one rank, or a setting makes no sense
     */
    public static List<SimulatedBackend> createGroup(int worldSize, Map<String, String> settings) {
        Objects.requireNonNull(settings, "settings");
        if (worldSize < 1) {
            throw new IllegalArgumentException("a simulated group needs at least 1 rank, found " + worldSize);
        }
        return createGroup(Collections.nCopies(worldSize, Map.copyOf(settings)));
    }

    /** Makes a group whose ranks have settings of their own, index = rank. */
    static List<SimulatedBackend> createGroup(List<Map<String, String>> settingsByRank) {
        int worldSize = settingsByRank.size();
        ScheduledExecutorService background = background();
        Network network = new Network(worldSize, new ThreadedMedium(background, System::nanoTime));
        List<SimulatedBackend> ranks = new ArrayList<>(worldSize);
        for (int rank = 0; rank < worldSize; rank++) {
            RankContext context =
                    new SimulatedContext(rank, inOneProcess(settingsByRank.get(rank)), System::nanoTime, background);
            refuseWarmUp(context, worldSize);
            ranks.add(join(new GroupSpec(NAME, rank, worldSize, Settings.TIMEOUT.of(context)), context, network));
        }
        return List.copyOf(ranks);
    }

    /**
     * Refuses warm-up. One thread makes the ranks one after the other, so the first would wait for the others until its
     * deadline.
     */
    private static void refuseWarmUp(RankContext context, int worldSize) {
        Duration time = Settings.WARM_UP.of(context);
        if (worldSize > 1 && !time.isZero()) {
            throw new IllegalArgumentException(Settings.WARM_UP.name() + "=" + Deadlines.millis(time)
                    + "ms: ranks of one process are made one after the other and cannot warm up: do not " + "set it");
        }
    }

    /** Turns heartbeats off unless they are set: threads of one process stand still and die together. */
    private static Map<String, String> inOneProcess(Map<String, String> settings) {
        Setting<?> interval = Settings.HEARTBEAT_INTERVAL;
        if (settings.containsKey(interval.name()) || settings.containsKey(interval.variable())) {
            return settings;
        }
        Map<String, String> all = new HashMap<>(settings);
        all.put(interval.name(), "0s");
        return all;
    }

    /** Makes a group of one rank, in the caller's context. */
    static SimulatedBackend alone(GroupSpec group, RankContext context) {
        return join(group, context, new Network(1, new ThreadedMedium(context.background(), context::nanoTime)));
    }

    private static SimulatedBackend join(GroupSpec group, RankContext context, Network network) {
        SimulatedTransport transport = network.join(group.name(), group.rank());
        return new SimulatedBackend(CollectiveEngine.over(transport, group, context), transport, network, work -> {});
    }

    /**
     * Returns an executor with one daemon thread for all ranks of a group; the thread exists only while there is work for
     * it.
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

    /** Ends this rank as the death of its process would: without a goodbye; the others get PEER_LOST. */
    void kill() {
        network.kill(transport.worldRank(transport.rank()));
    }

    private Work told(Work work) {
        submitted.accept(work);
        return work;
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return told(super.submit(call, options));
    }

    @Override
    public Work send(Tensor tensor, int to, int tag, CallOptions options) {
        return told(super.send(tensor, to, tag, options));
    }

    @Override
    public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
        return told(super.recv(tensor, from, tag, options));
    }
}

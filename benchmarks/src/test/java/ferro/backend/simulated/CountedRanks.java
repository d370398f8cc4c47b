package ferro.backend.simulated;

import ferro.CollectiveBackend;
import ferro.collectives.CollectiveEngine;
import ferro.control.failure.FailurePolicy;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.IntConsumer;

/**
 * Simulated ranks whose control messages are counted. The class is in this package because the back end has no public
 * access to its transports.
 */
public final class CountedRanks {
    private CountedRanks() {}

    /** The receiver of the counts. Ranks on threads call it at the same time. */
    @FunctionalInterface
    public interface Counter {
        void sent(int rank, int kind, boolean isMembership);
    }

    /** Makes a seeded simulation, not started; a counter that is null counts nothing. */
    public static Simulation seeded(int ranks, Map<String, String> settings, Counter counter) {
        return counter == null
                ? Simulation.of(ranks, 1, settings)
                : new Simulation(
                        ranks,
                        1,
                        settings,
                        new SteppedRank.EngineInputs(medium -> counted(medium, counter, false), FailurePolicy.SHIPPED));
    }

    /** Makes ranks for threads of the caller; index = rank. */
    public static List<ProcessGroup> onThreads(int ranks, Map<String, String> settings, Counter counter) {
        ScheduledExecutorService background = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "ferro-counted-background");
            thread.setDaemon(true);
            return thread;
        });
        NetworkState network = new NetworkState(ranks, new ThreadedMedium(background, System::nanoTime));
        List<ProcessGroup> groups = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            RankContext context = new SimulatedContext(rank, settings, System::nanoTime, background);
            SimulatedTransport transport = network.join("counted", rank);
            CollectiveBackend engine = CollectiveEngine.over(
                    counted(transport, counter, false),
                    GroupSpec.of("counted", rank, ranks, Duration.ofMinutes(2)),
                    context);
            groups.add(Groups.of(new SimulatedBackend(engine, transport, work -> {}), context));
        }
        return groups;
    }

    public static ProcessGroup group(Simulation simulation, int rank) {
        return simulation.group(rank);
    }

    /** Adds a fault that happens before the next step, also while the simulation runs. */
    public static void strike(Simulation simulation, Fault fault) {
        simulation.add(fault);
    }

    /** Runs code after each step; it gets the rank of the step. */
    public static void observe(Simulation simulation, IntConsumer afterStep) {
        simulation.observe(afterStep);
    }

    /** Counts what a rank sends. Programs that count make no groups, so that all other lanes are those of memberships. */
    private static Transport counted(Transport medium, Counter counter, boolean isMembership) {
        return (Transport) Proxy.newProxyInstance(
                CountedRanks.class.getClassLoader(), new Class<?>[] {Transport.class}, (proxy, method, values) -> {
                    if (method.getName().equals("control")) {
                        ByteBuffer message = (ByteBuffer) values[1];
                        counter.sent(medium.rank(), message.get(message.position()) & 0xFF, isMembership);
                    }
                    try {
                        Object result = method.invoke(medium, values);
                        return method.getName().equals("subgroup")
                                ? counted((Transport) result, counter, true)
                                : result;
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }
}

package ferro.backend.gloofallback;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.SystemContext;
import ferro.tck.HeapDeviceMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** Simulated ranks in this JVM, each with a context of its own, a device of its own and the gate open. */
final class DeviceGroup implements AutoCloseable {
    final HeapDeviceMemory heap = new HeapDeviceMemory(8);
    final List<SystemContext> contexts = new ArrayList<>();
    final List<CollectiveBackend> hosts;
    final List<GpuCollectives> doors = new ArrayList<>();

    private DeviceGroup(int worldSize, Map<String, String> settings, UnaryOperator<CollectiveBackend> decorate) {
        hosts = SimulatedBackend.createGroup(worldSize).stream()
                .map(host -> decorate.apply(host))
                .toList();
        for (int rank = 0; rank < worldSize; rank++) {
            SystemContext context = SystemContext.of(settings);
            context.shared(DeviceMemory.class, heap::opened);
            contexts.add(context);
            doors.add(GpuCollectives.with(context));
        }
    }

    static DeviceGroup of(int worldSize) {
        return with(worldSize, Map.of());
    }

    static DeviceGroup with(int worldSize, Map<String, String> extra) {
        return with(worldSize, extra, UnaryOperator.identity());
    }

    static DeviceGroup with(int worldSize, Map<String, String> extra, UnaryOperator<CollectiveBackend> decorate) {
        Map<String, String> settings = new HashMap<>(Map.of("ferro.gpu.fallback", "1"));
        settings.putAll(extra);
        return new DeviceGroup(worldSize, settings, decorate);
    }

    /** What a rank does. */
    @FunctionalInterface
    interface RankCode<T> {
        T run(int rank) throws Exception;
    }

    /** Runs code on a thread of each rank; the first failure is thrown. */
    <T> List<T> run(RankCode<T> code) {
        List<T> results = new ArrayList<>();
        for (CompletableFuture<T> each : start(code)) {
            results.add(OnThread.result(each));
        }
        return results;
    }

    /** Runs code on a thread of each rank and returns how each ended, null for well. */
    List<Throwable> outcomes(RankCode<?> code) {
        List<Throwable> outcomes = new ArrayList<>();
        for (CompletableFuture<?> each : start(code)) {
            outcomes.add(OnThread.outcome(each));
        }
        return outcomes;
    }

    <T> List<CompletableFuture<T>> start(RankCode<T> code) {
        List<CompletableFuture<T>> running = new ArrayList<>();
        for (int rank = 0; rank < hosts.size(); rank++) {
            int own = rank;
            running.add(OnThread.start(() -> code.run(own)));
        }
        return running;
    }

    /** Puts floats on a rank's device. */
    DeviceTensor tensor(int rank, float... elements) {
        return heap.upload(HostTensor.of(elements), rank);
    }

    Backend host(int rank) {
        return hosts.get(rank);
    }

    @Override
    public void close() {
        hosts.forEach(CollectiveBackend::close);
        doors.forEach(GpuCollectives::close);
        contexts.forEach(context -> {
            context.release(DeviceMemory.class);
            context.close();
        });
        heap.close();
    }
}

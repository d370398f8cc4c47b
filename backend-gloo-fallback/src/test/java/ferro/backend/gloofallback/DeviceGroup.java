package ferro.backend.gloofallback;

import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Simulated ranks in this JVM, each with a context and devices of its own; the gate is open unless settings say otherwise. */
final class DeviceGroup implements AutoCloseable {
    private final List<HeapDeviceMemory> heaps = new ArrayList<>();
    private final List<SystemContext> contexts = new ArrayList<>();
    private final List<CollectiveBackend> hosts = new ArrayList<>();
    private final List<GpuCollectives> doors = new ArrayList<>();
    private final List<ProcessGroup> groups = new ArrayList<>();

    private DeviceGroup(int worldSize, Map<String, String> settings, UnaryOperator<CollectiveBackend> decorate) {
        for (SimulatedBackend host : SimulatedBackend.createGroup(worldSize, settings)) {
            HeapDeviceMemory heap = new HeapDeviceMemory(2);
            SystemContext context = SystemContext.of(settings);
            context.shared(DeviceMemory.class, heap::opened);
            heaps.add(heap);
            contexts.add(context);
            hosts.add(decorate.apply(host));
            doors.add(GpuCollectives.with(context));
            groups.add(Groups.of(hosts.get(host.rank()), context));
        }
    }

    static DeviceGroup of(int worldSize) {
        return with(worldSize, Map.of());
    }

    /** Makes a group whose pieces have so many bytes. */
    static DeviceGroup cut(int worldSize, int chunkBytes) {
        return with(worldSize, Map.of("ferro.fallback.chunk", Integer.toString(chunkBytes)));
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

    /** What a rank does, without a result. */
    @FunctionalInterface
    interface RankTask {
        void run(int rank) throws Exception;
    }

    /** Runs code on a thread of each rank; the first failure is thrown. */
    <T> List<T> run(RankCode<T> code) {
        return start(code).stream().map(OnThread::result).toList();
    }

    void runAll(RankTask task) {
        run(code(task));
    }

    /** Runs code on a thread of each rank and returns how each ended, null for well. */
    List<Throwable> outcomes(RankTask task) {
        List<Throwable> outcomes = new ArrayList<>();
        start(code(task)).forEach(each -> outcomes.add(OnThread.outcome(each)));
        return outcomes;
    }

    private static RankCode<Integer> code(RankTask task) {
        return rank -> {
            task.run(rank);
            return rank;
        };
    }

    private <T> List<CompletableFuture<T>> start(RankCode<T> code) {
        return IntStream.range(0, size())
                .mapToObj(rank -> OnThread.start(() -> code.run(rank)))
                .toList();
    }

    int size() {
        return hosts.size();
    }

    HeapDeviceMemory heap(int rank) {
        return heaps.get(rank);
    }

    CollectiveBackend host(int rank) {
        return hosts.get(rank);
    }

    GpuCollectives door(int rank) {
        return doors.get(rank);
    }

    ProcessGroup group(int rank) {
        return groups.get(rank);
    }

    SystemContext context(int rank) {
        return contexts.get(rank);
    }

    /** Puts floats on a rank's device. */
    DeviceTensor tensor(int rank, float... elements) {
        return heap(rank).upload(HostTensor.of(elements), rank % 2);
    }

    float[] floats(int rank, DeviceTensor tensor) {
        return heap(rank).floats(tensor);
    }

    long copies(Direction direction) {
        return heaps.stream().mapToLong(heap -> heap.copies(direction)).sum();
    }

    /** Closes the ranks and checks that no staging and no copy is left; tensors belong to the test. */
    @Override
    public void close() {
        hosts.stream().map(host -> OnThread.run(host::close)).toList().forEach(OnThread::outcome);
        doors.forEach(GpuCollectives::close);
        groups.forEach(ProcessGroup::close);
        for (int rank = 0; rank < contexts.size(); rank++) {
            contexts.get(rank).release(DeviceMemory.class);
            contexts.get(rank).close();
            heaps.get(rank).close();
        }
    }
}

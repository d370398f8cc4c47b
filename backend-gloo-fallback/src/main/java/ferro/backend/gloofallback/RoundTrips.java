package ferro.backend.gloofallback;

import ferro.CollectiveBackend;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.DeviceMemory;
import ferro.spi.Deadlines;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What the host round trips of one rank share: device memory, staging, a lane for each host group. Thread-safe. */
final class RoundTrips implements AutoCloseable {
    private static final long IDLE_MILLIS = 100;

    private final DeviceMemory memory;
    private final StagingPool pool;
    /** By identity: back ends have no equality of their own. */
    private final Map<CollectiveBackend, Lane> lanes = new WeakHashMap<>();

    private final ThreadPoolExecutor dependants;

    private RoundTrips(DeviceMemory memory) {
        this.memory = memory;
        this.pool = new StagingPool(memory);
        // what users chained may block: as many threads as block at once, none while there is nothing to do
        this.dependants = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "ferro-roundtrip-completion");
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /**
     * One use of a rank's round trips; the last one closed frees staging and closes the device memory.
     *
     * @param context whose
     * @param trips   shared
     */
    record Use(RankContext context, RoundTrips trips) implements AutoCloseable {
        static Use of(RankContext context) {
            DeviceMemory memory = DeviceMemories.shared(context);
            try {
                return new Use(context, context.shared(RoundTrips.class, () -> new RoundTrips(memory)));
            } catch (RuntimeException | Error failure) {
                context.release(DeviceMemory.class);
                throw failure;
            }
        }

        @Override
        public void close() {
            context.release(RoundTrips.class);
            context.release(DeviceMemory.class);
        }
    }

    /** Looks without making anything: where nothing is shared, nothing is under way. */
    static boolean isBusy(CollectiveBackend host, RankContext context, Duration patience) {
        Optional<RoundTrips> shared = context.find(RoundTrips.class);
        if (shared.isEmpty()) {
            return false;
        }
        try {
            Lane lane = shared.get().lane(host);
            return lane.isBusy() && !lane.drain(System.nanoTime() + Deadlines.nanos(patience));
        } finally {
            context.release(RoundTrips.class);
        }
    }

    DeviceMemory memory() {
        return memory;
    }

    StagingPool pool() {
        return pool;
    }

    Executor dependants() {
        return dependants;
    }

    Lane lane(CollectiveBackend host) {
        synchronized (lanes) {
            return lanes.computeIfAbsent(host, key -> new Lane());
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}

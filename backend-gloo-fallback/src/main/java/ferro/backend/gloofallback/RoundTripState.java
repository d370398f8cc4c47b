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

/** Device memory, staging memory and call queues that one rank's calls through host memory share. Thread-safe. */
final class RoundTripState implements AutoCloseable {
    private static final long IDLE_MILLIS = 100;

    private final DeviceMemory memory;
    private final StagingPool pool;
    /** Call queues by host back end. Back ends are compared by identity, because they define no equality. */
    private final Map<CollectiveBackend, HostCallQueue> lanes = new WeakHashMap<>();

    private final ThreadPoolExecutor dependants;

    private RoundTripState(DeviceMemory memory) {
        this.memory = memory;
        this.pool = new StagingPool(memory);
        // code that users chained may block: uses as many threads as block at once, and none without work
        this.dependants = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, IDLE_MILLIS, TimeUnit.MILLISECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "ferro-roundtrip-completion");
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /**
     * A lease of the shared state of a rank. The close of the last lease frees staging memory and closes the device
     * memory.
     *
     * @param context context of the rank
     * @param trips   the shared state
     */
    record RoundTripLease(RankContext context, RoundTripState trips) implements AutoCloseable {
        static RoundTripLease of(RankContext context) {
            DeviceMemory memory = DeviceMemories.shared(context);
            try {
                return new RoundTripLease(
                        context, context.shared(RoundTripState.class, () -> new RoundTripState(memory)));
            } catch (RuntimeException | Error failure) {
                context.release(DeviceMemory.class);
                throw failure;
            }
        }

        @Override
        public void close() {
            context.release(RoundTripState.class);
            context.release(DeviceMemory.class);
        }
    }

    /** Returns whether calls are in flight. Returns false if the context has no state of round trips, and creates none. */
    static boolean isBusy(CollectiveBackend host, RankContext context, Duration patience) {
        Optional<RoundTripState> shared = context.find(RoundTripState.class);
        if (shared.isEmpty()) {
            return false;
        }
        try {
            HostCallQueue lane = shared.get().lane(host);
            return lane.isBusy() && !lane.drain(System.nanoTime() + Deadlines.nanos(patience));
        } finally {
            context.release(RoundTripState.class);
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

    HostCallQueue lane(CollectiveBackend host) {
        synchronized (lanes) {
            return lanes.computeIfAbsent(host, key -> new HostCallQueue());
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}

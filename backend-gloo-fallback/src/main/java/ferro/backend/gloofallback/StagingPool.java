package ferro.backend.gloofallback;

import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** The staging memory of one rank, which is kept for the next call. Sizes are powers of two. Thread-safe. */
final class StagingPool implements AutoCloseable {
    private static final int LEAST_BYTES = 4096;
    /** Maximum number of unused bytes that are kept. One call may use the same number of bytes. */
    private static final long KEPT_BYTES_MOST = 32L << 20;

    private final DeviceMemory memory;
    private final Map<Integer, Deque<Staging>> kept = new HashMap<>();
    private final List<PendingStaging> late = new ArrayList<>();
    private long keptBytes;
    private boolean closed;

    /** Staging memory that a copy may still use although the call of the copy has failed. */
    private record PendingStaging(Staging staging, List<Copy> copies) {}

    StagingPool(DeviceMemory memory) {
        this.memory = memory;
    }

    /** Returns staging memory of at least {@code bytes} bytes. */
    synchronized Staging take(int bytes) {
        reclaim();
        int size = bytes <= LEAST_BYTES ? LEAST_BYTES : Integer.highestOneBit(bytes - 1) << 1;
        Deque<Staging> fitting = kept.get(size);
        if (fitting == null || fitting.isEmpty()) {
            return memory.stage(size);
        }
        keptBytes -= size;
        return fitting.pop();
    }

    /** Takes back unused staging memory. */
    synchronized void give(Staging staging) {
        int size = staging.buffer().capacity();
        if (closed || keptBytes + size > KEPT_BYTES_MOST) {
            staging.close();
            return;
        }
        staging.buffer().clear();
        keptBytes += size;
        kept.computeIfAbsent(size, key -> new ArrayDeque<>()).push(staging);
    }

    /** Takes back staging memory that copies may still use. The memory is reused only after the end of these copies. */
    synchronized void give(Staging staging, List<Copy> copies) {
        late.add(new PendingStaging(staging, List.copyOf(copies)));
        reclaim();
    }

    private void reclaim() {
        Iterator<PendingStaging> each = late.iterator();
        while (each.hasNext()) {
            PendingStaging next = each.next();
            if (next.copies.stream().allMatch(StagingPool::hasEnded)) {
                each.remove();
                give(next.staging);
            }
        }
    }

    private static boolean hasEnded(Copy copy) {
        try {
            return copy.await(Duration.ZERO);
        } catch (RuntimeException failed) {
            return true;
        }
    }

    /** Frees the unused staging memory. The device memory frees staging memory that a copy still uses. */
    @Override
    public synchronized void close() {
        closed = true;
        reclaim();
        kept.values().forEach(stagings -> stagings.forEach(Staging::close));
        kept.clear();
    }
}

package ferro.dispatch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Data about the slow path that all {@code GpuCollectives} of one context share: the number of calls of each collective
 * on the slow path, and the fallback that ran the last of them. A call on host tensors may have to wait for that
 * fallback, even if another {@code GpuCollectives} object made the earlier calls.
 */
final class FallbackCounters implements AutoCloseable {
    private final ConcurrentHashMap<String, LongAdder> byCollective = new ConcurrentHashMap<>();
    private volatile HostFallback carrier;

    void add(String collective, HostFallback by) {
        carrier = by;
        byCollective.computeIfAbsent(collective, name -> new LongAdder()).increment();
    }

    long count(String collective) {
        LongAdder count = byCollective.get(collective);
        return count == null ? 0 : count.sum();
    }

    /** Returns the fallback that ran the last call on the slow path, or null if there was none. */
    HostFallback carrier() {
        return carrier;
    }

    @Override
    public void close() {
        // counters hold no resources
    }
}

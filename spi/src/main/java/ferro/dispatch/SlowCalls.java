package ferro.dispatch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Data about the slow path that all {@code GpuCollectives} of one context share: how often each collective took it, and
 * which fallback carried the last call. Calls on host tensors may have to wait for that fallback, whichever object its
 * calls came through.
 */
final class SlowCalls implements AutoCloseable {
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

    /** Returns the fallback that carried the last call, or null if no call has taken the slow path. */
    HostFallback carrier() {
        return carrier;
    }

    @Override
    public void close() {
        // counters hold no resources
    }
}

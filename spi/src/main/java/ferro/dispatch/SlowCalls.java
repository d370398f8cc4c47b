package ferro.dispatch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What all doors of one context know of the slow way: how often each collective took it, and what carried the last one, which
 * calls on host tensors may have to wait for whatever door it came through.
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

    /** Returns what carried the last one, null if none ever took the slow way. */
    HostFallback carrier() {
        return carrier;
    }

    @Override
    public void close() {
        // numbers hold nothing
    }
}

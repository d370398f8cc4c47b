package ferro.dispatch;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** How often each collective went the slow way; one per context, so that all groups of a rank count together. */
final class FallbackCounts implements AutoCloseable {
    private final ConcurrentHashMap<String, LongAdder> byCollective = new ConcurrentHashMap<>();

    void add(String collective) {
        byCollective.computeIfAbsent(collective, name -> new LongAdder()).increment();
    }

    long of(String collective) {
        LongAdder count = byCollective.get(collective);
        return count == null ? 0 : count.sum();
    }

    @Override
    public void close() {
        // numbers hold nothing
    }
}

package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SystemContextTest {
    private final AtomicInteger closed = new AtomicInteger();

    /** Something to share. */
    private record Port(AtomicInteger closed) implements AutoCloseable {
        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    @Test
    void findMakesNothingAndCountsAsAUse() {
        try (SystemContext context = SystemContext.of(Map.of())) {
            assertEquals(Optional.empty(), context.find(Port.class));
            Port port = context.shared(Port.class, () -> new Port(closed));

            assertSame(port, context.find(Port.class).orElseThrow());
            context.release(Port.class);
            assertEquals(0, closed.get(), "closed before its last use");
            context.release(Port.class);

            assertEquals(1, closed.get());
            assertEquals(Optional.empty(), context.find(Port.class));
        }
    }

    @Test
    void theBackgroundThreadEndsWhenThereIsNothingToDo() throws Exception {
        try (SystemContext context = SystemContext.of(Map.of())) {
            Thread thread = context.background().submit(Thread::currentThread).get(20, TimeUnit.SECONDS);
            thread.join(TimeUnit.SECONDS.toMillis(20));
            assertFalse(thread.isAlive(), thread + " is idle");
            context.background().submit(() -> {}).get(20, TimeUnit.SECONDS);
        }
    }
}

package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.recorder.ThreadStack.StackSampler;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stacks that several threads ask for at the same time. */
@Timeout(60)
class StackTracesTest {
    private static final int RANKS = 10;

    private final AtomicInteger single = new AtomicInteger();
    private final AtomicInteger shared = new AtomicInteger();
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final Map<Thread, StackTraceElement[]> known = new HashMap<>();

    private StackTraceElement[] one(Thread thread) {
        single.incrementAndGet();
        try {
            assertTrue(goOn.await(30, TimeUnit.SECONDS));
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
        return stack(thread);
    }

    private Map<Thread, StackTraceElement[]> all() {
        shared.incrementAndGet();
        return known;
    }

    private static StackTraceElement[] stack(Thread thread) {
        return new StackTraceElement[] {new StackTraceElement("Train", thread.getName(), "Train.java", 88)};
    }

    @Test
    void threadsThatWaitForTheirStacksShareTheNextSafepoint() throws Exception {
        StackSampler traces = new StackSampler(this::one, this::all);
        List<Thread> threads = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            Thread thread = new Thread(() -> {}, "rank-" + rank);
            threads.add(thread);
            known.put(thread, stack(thread));
        }
        ExecutorService callers = Executors.newFixedThreadPool(RANKS);
        try {
            List<CompletableFuture<StackTraceElement[]>> stacks = new ArrayList<>();
            stacks.add(CompletableFuture.supplyAsync(() -> traces.of(threads.get(0)), callers));
            while (single.get() == 0) {
                Thread.onSpinWait();
            }
            for (Thread thread : threads.subList(1, RANKS)) {
                stacks.add(CompletableFuture.supplyAsync(() -> traces.of(thread), callers));
            }
            while (traces.waiting() < RANKS - 1) {
                Thread.onSpinWait();
            }
            goOn.countDown();
            for (int rank = 0; rank < RANKS; rank++) {
                assertArrayEquals(stack(threads.get(rank)), stacks.get(rank).get(30, TimeUnit.SECONDS), "rank " + rank);
            }
        } finally {
            callers.shutdownNow();
        }
        assertEquals(1, single.get());
        assertEquals(1, shared.get());
    }

    @Test
    void aSingleRequestReadsOnlyTheStackOfItsThread() {
        goOn.countDown();
        StackSampler traces = new StackSampler(this::one, this::all);
        assertEquals("rank-0", traces.of(new Thread("rank-0"))[0].getMethodName());
        assertEquals(0, shared.get());
    }
}

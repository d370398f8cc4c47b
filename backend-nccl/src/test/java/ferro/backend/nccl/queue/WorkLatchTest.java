package ferro.backend.nccl.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of an operation, and the threads that wait for it. */
@Timeout(60)
class WorkLatchTest {
    private final WorkLatch end = new WorkLatch();

    @Test
    void waitingThreadsAreListedUntilTheEnd() throws InterruptedException {
        AtomicBoolean ended = new AtomicBoolean();
        CountDownLatch over = new CountDownLatch(1);
        Thread waits = new Thread(() -> {
            try {
                ended.set(end.await(60, TimeUnit.SECONDS));
            } catch (InterruptedException unexpected) {
                Thread.currentThread().interrupt();
            }
            over.countDown();
        });
        assertEquals(List.of(), List.copyOf(end.getQueuedThreads()));
        waits.start();
        while (end.getQueuedThreads().isEmpty()) {
            Thread.onSpinWait();
        }
        assertEquals(List.of(waits), List.copyOf(end.getQueuedThreads()));
        assertFalse(end.hasHappened());

        end.happens();
        over.await();

        assertTrue(ended.get() && end.hasHappened());
        assertEquals(List.of(), List.copyOf(end.getQueuedThreads()));
        assertTrue(end.await(0, TimeUnit.SECONDS));
    }

    @Test
    void aWaitEndsAfterItsTimeout() throws InterruptedException {
        assertFalse(end.await(1, TimeUnit.NANOSECONDS));
        assertEquals(List.of(), List.copyOf(end.getQueuedThreads()));
    }
}

package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.Message;
import ferro.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Waits for a message of a block by another thread, which begin before the end of the block. */
class CoalescedWaitTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void theLimitOfAWaitCountsOnceForTheBlockAndItsMessage() throws Exception {
        List<Duration> limits = new ArrayList<>();
        Work message = mock(Work.class);
        when(message.await(any(Duration.class))).thenAnswer(call -> limits.add(call.getArgument(0)));
        CollectiveBackend backend = mock(CollectiveBackend.class);
        when(backend.submit(any(Message.class), any(CallOptions.class))).thenReturn(message);
        when(backend.submitCoalesced(any(), any(), any())).thenReturn(Work.all(List.of()));
        CoalescedBlocks blocks = new CoalescedBlocks();
        List<CompletableFuture<Boolean>> waits = new ArrayList<>();
        try (SystemContext context = SystemContext.of(Map.of())) {
            GroupCore core = new GroupCore(backend, backend, context, blocks, null, null, false);
            Work block = blocks.submit(() -> waits.add(waitBeside(blocks)), core, LIMIT);
            assertTrue(waits.get(0).get());
            block.await();
        }

        assertEquals(1, limits.size());
        assertTrue(limits.get(0).compareTo(LIMIT) < 0, "a wait of " + limits.get(0) + " after that for the block");
    }

    /** Keeps a message, and lets another thread wait for it. */
    private static CompletableFuture<Boolean> waitBeside(CoalescedBlocks blocks) {
        Work later = blocks.mine().keep(Message.send(HostTensor.of(new float[1]), 0, 1), CallOptions.of(LIMIT));
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Thread waiting = new Thread(() -> ended.complete(later.await(LIMIT)), "test-waiting");
        waiting.setDaemon(true);
        waiting.start();
        for (int round = 0; waiting.getState() != Thread.State.TIMED_WAITING; round++) {
            assertTrue(round < 10_000, "no thread waits for the message");
            LockSupport.parkNanos(1_000_000);
        }
        return ended;
    }
}

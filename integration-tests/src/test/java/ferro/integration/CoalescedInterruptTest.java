package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.harness.OnThread;
import ferro.harness.Says;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A thread that waits for a coalesced block, or for a handle of one that another thread runs, can be interrupted. */
class CoalescedInterruptTest {
    private static final long PATIENCE_SECONDS = 20;

    private final List<ProcessGroup> ranks =
            SimulatedBackend.createGroup(2).stream().map(ProcessGroup::of).toList();
    private final CompletableFuture<Work> handle = new CompletableFuture<>();
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    /** How a thread's wait ended: what was thrown, null if well, and whether its interrupt flag was set after it. */
    private record Ended(Throwable thrown, boolean flag) {}

    @AfterEach
    void close() {
        mayEnd.countDown();
        ranks.forEach(rank -> rank.close(Duration.ZERO));
    }

    @Test
    void anInterruptedWaitForCallsInFlightAbortsTheGroup() throws Exception {
        mayEnd.countDown();
        CompletableFuture<Throwable> block = block();
        Ended ended = interrupted(handle.get(PATIENCE_SECONDS, TimeUnit.SECONDS));

        assertInterrupted(ended);
        assertEquals(Code.ABORTED, code(block.get(PATIENCE_SECONDS, TimeUnit.SECONDS)), "end of the block");
        // a barrier that begins before the abort reaches rank 1 meets the block of rank 0: a mismatch
        OnThread.until("rank 1 hears of the abort", () -> ranks.get(1).failure().isPresent());
        assertEquals(Code.ABORTED, code(thrown(() -> ranks.get(1).barrier())), "next call of the other rank");
        assertTrue(ranks.get(1).failure().orElseThrow().where().culprits().contains(0), "rank 0 is named");
    }

    @Test
    void anInterruptEndsTheWaitForAnOpenBlock() throws Exception {
        CompletableFuture<Throwable> block = block();
        Ended ended = interrupted(handle.get(PATIENCE_SECONDS, TimeUnit.SECONDS));

        assertInterrupted(ended);
        assertTrue(!block.isDone(), "the block is still in its body");
        mayEnd.countDown();
        assertEquals(Code.ABORTED, code(block.get(PATIENCE_SECONDS, TimeUnit.SECONDS)), "end of the block");
    }

    @Test
    void anInterruptedTimedWaitChangesNothing() throws Exception {
        CompletableFuture<Throwable> block = block();
        Work work = handle.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        Thread.currentThread().interrupt();

        assertTrue(!work.await(Duration.ofSeconds(PATIENCE_SECONDS)), "not done");
        assertTrue(Thread.interrupted(), "the flag is set again");

        mayEnd.countDown();
        ranks.get(1).coalesced(() -> ranks.get(1).allReduce(new float[] {4}, ReduceOp.SUM));
        assertNull(block.get(PATIENCE_SECONDS, TimeUnit.SECONDS), "end of the block");
    }

    @Test
    void anInterruptedBlockOfSeveralCallsFailsWithInterrupted() {
        ProcessGroup group = ranks.get(0);
        Runnable calls = () -> {
            group.allReduce(new float[3], ReduceOp.SUM);
            group.allReduce(new float[3], ReduceOp.MAX);
        };
        Thread.currentThread().interrupt();
        Throwable thrown = thrown(() -> group.coalesced(calls));

        assertTrue(Thread.interrupted(), "the flag is set again");
        assertEquals(Code.INTERRUPTED, code(thrown), thrown.getMessage());
        assertEquals(Code.ABORTED, group.failure().orElseThrow().code(), "failure of the group");
    }

    /** Has rank 0 run a block on a thread of its own; rank 1 makes none, so that its call cannot end. */
    private CompletableFuture<Throwable> block() {
        return CompletableFuture.supplyAsync(() -> thrown(() -> ranks.get(0).coalesced(() -> {
            handle.complete(ranks.get(0).allReduceAsync(HostTensor.of(new float[] {3}), ReduceOp.SUM));
            OnThread.until("the test lets the block end", () -> mayEnd.getCount() == 0);
        })));
    }

    private static Ended interrupted(Work work) throws Exception {
        CompletableFuture<Ended> ended = new CompletableFuture<>();
        Thread waiter = new Thread(
                () -> {
                    Throwable thrown = thrown(work::await);
                    ended.complete(new Ended(thrown, Thread.currentThread().isInterrupted()));
                },
                "test-waiter");
        waiter.setDaemon(true);
        waiter.start();
        OnThread.until("the wait begins", () -> waiter.getState() == Thread.State.WAITING);
        waiter.interrupt();
        return ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private static void assertInterrupted(Ended ended) {
        assertEquals(Code.INTERRUPTED, code(ended.thrown()));
        assertTrue(ended.thrown().getMessage().contains("coalesced on rank 0 of world size 2: interrupted"));
        assertTrue(ended.flag(), "the flag is set again");
    }

    private static Code code(Throwable thrown) {
        return assertInstanceOf(FerroException.class, thrown).code();
    }

    private static Throwable thrown(Says.Call call) {
        try {
            call.run();
            return null;
        } catch (Exception | AssertionError thrown) {
            return thrown;
        }
    }
}

package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.tcp.connect.Threads;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A context that ends takes with it what is open in it, and what is being joined. */
@Timeout(60)
class ContextEndTest {
    private static final int RANKS = 3;
    private static final Duration LONG = Duration.ofSeconds(40);
    private static final IllegalStateException CAUSE = new IllegalStateException("the task was killed");

    private final TcpStoreServer store =
            TcpStoreServer.start(InetAddress.getLoopbackAddress(), PortRange.of("0"), "app.0", RANKS, null);
    private final List<SystemContext> contexts = new ArrayList<>();

    @AfterEach
    void close() {
        contexts.forEach(SystemContext::close);
        store.close();
    }

    private SystemContext context(int rank) {
        SystemContext made = SystemContext.of(JoinOptions.of(rank, RANKS)
                .local(rank, RANKS)
                .job("app", 0)
                .storeAt(store.endpoint())
                .timeout(LONG)
                .setting("ferro.backend", "tcp"));
        contexts.add(made);
        return made;
    }

    private List<ProcessGroup> joined() {
        List<CompletableFuture<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            SystemContext context = context(rank);
            joining.add(Threads.start(context::join));
        }
        return joining.stream().map(TcpJob::result).toList();
    }

    private static FerroException failureOf(CompletableFuture<?> failing) {
        Throwable failure = assertThrows(CompletionException.class, () -> TcpJob.result(failing))
                .getCause();
        if (failure instanceof FerroException told) {
            return told;
        }
        throw new AssertionError("another failure", failure);
    }

    @Test
    void closingAContextEndsItsGroupsSubgroupsAndAsynchronousWork() {
        List<ProcessGroup> groups = joined();
        List<ProcessGroup> subgroups = TcpJob.onAll(groups, group -> group.newGroup(2, 1, 0));
        Work never = subgroups.get(0).allReduceAsync(HostTensor.of(new float[100_000]), ReduceOp.SUM);

        contexts.get(0).close();

        assertTrue(never.isDone(), "work goes on in a closed context");
        assertThrows(FerroException.class, never::await);
        assertThrows(IllegalStateException.class, () -> groups.get(0).barrier());
        assertThrows(IllegalStateException.class, () -> subgroups.get(0).barrier());
        assertThrows(FerroException.class, () -> subgroups.get(1).barrier());
        assertThrows(FerroException.class, () -> groups.get(2).barrier());
        assertThrows(IllegalStateException.class, contexts.get(0)::join);
        groups.get(0).close();
        contexts.get(0).close();
    }

    @Test
    void aContextThatClosesWithoutUnfinishedWorkLeavesItsGroupsInGoodOrder() {
        List<ProcessGroup> groups = joined();
        float[][] sums = {{1}, {2}, {3}};
        List<Boolean> closed = TcpJob.onAll(groups, group -> {
            group.allReduce(sums[group.rank()], ReduceOp.SUM);
            contexts.get(group.rank()).close();
            return true;
        });

        assertEquals(List.of(true, true, true), closed);
        assertEquals(6, sums[0][0]);
        groups.forEach(group -> assertEquals(Optional.empty(), group.failure()));
    }

    @Test
    void abortingAContextFailsItsGroupsOnAllRanksWithTheCause() {
        List<ProcessGroup> groups = joined();
        CompletableFuture<?> waiting = Threads.start(() -> {
            groups.get(1).barrier();
            return true;
        });

        contexts.get(0).abort(CAUSE);
        contexts.get(0).abort(new IllegalStateException("a second one"));

        FerroException failure = failureOf(waiting);
        assertEquals(Code.ABORTED, failure.code());
        assertTrue(failure.getMessage().contains(CAUSE.getMessage()), failure.getMessage());
        assertEquals(Optional.of("aborted: " + CAUSE), contexts.get(0).ended());
        FerroException again = assertThrows(FerroException.class, contexts.get(0)::join);
        assertEquals(Code.ABORTED, again.code());
    }

    @Test
    void anAbortEndsAJoinAndTellsTheRanksThatJoin() throws InterruptedException {
        AtomicBoolean interrupted = new AtomicBoolean(true);
        SystemContext cancelled = context(0);
        CompletableFuture<?> own = Threads.start(() -> {
            try {
                return cancelled.join();
            } finally {
                interrupted.set(Thread.currentThread().isInterrupted());
            }
        });
        CompletableFuture<?> other = Threads.start(context(1)::join);
        awaitCards(2);

        cancelled.abort(CAUSE);

        FerroException failure = failureOf(own);
        assertEquals(Code.ABORTED, failure.code());
        assertSame(CAUSE, failure.getCause());
        assertTrue(failure.getMessage().contains("joining \"world\" as rank 0 was cancelled"), failure.getMessage());
        assertFalse(interrupted.get(), "the thread of the join has its flag set");
        FerroException told = failureOf(other);
        assertTrue(
                told.getMessage().contains("rank 0 of \"world\" has stopped joining")
                        && told.getMessage().contains("killed"),
                told.getMessage());
    }

    @Test
    void closingAContextEndsAJoinThatWaitsForTheStore() throws InterruptedException {
        store.close();
        SystemContext context = context(1);
        CountDownLatch started = new CountDownLatch(1);
        CompletableFuture<?> own = Threads.start(() -> {
            started.countDown();
            return context.join();
        });
        started.await();

        context.close();

        assertThrows(CompletionException.class, () -> TcpJob.result(own));
    }

    @Test
    void anInterruptEndsAJoinAndStaysSet() throws InterruptedException {
        Thread[] joining = new Thread[1];
        AtomicBoolean interrupted = new AtomicBoolean();
        SystemContext context = context(0);
        CompletableFuture<?> own = Threads.start(() -> {
            joining[0] = Thread.currentThread();
            try {
                return context.join();
            } finally {
                interrupted.set(Thread.currentThread().isInterrupted());
            }
        });
        awaitCards(1);

        joining[0].interrupt();

        assertEquals(Code.INTERRUPTED, failureOf(own).code());
        assertTrue(interrupted.get(), "the interrupt of the caller is gone");
        assertEquals(Optional.empty(), context.ended());
    }

    /** Waits until so many ranks have shown where they listen. */
    private void awaitCards(int ranks) throws InterruptedException {
        try (SystemContext looking = context(2);
                ferro.Store seen = new TcpStoreProvider()
                        .open(java.net.URI.create("tcp://" + store.endpoint()), looking.spec(), looking)) {
            for (int rank = 0; rank < ranks; rank++) {
                seen.get("world/1/card/" + rank, LONG);
            }
        }
    }
}

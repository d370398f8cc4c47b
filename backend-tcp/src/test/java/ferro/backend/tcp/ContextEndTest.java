package ferro.backend.tcp;

import static ferro.backend.tcp.mesh.Ranks.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Store;
import ferro.Work;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Threads;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.PortRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
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

    private static JoinOptions options(int rank) {
        return JoinOptions.of(rank, RANKS)
                .local(rank, RANKS)
                .job("app", 0)
                .timeout(LONG)
                .setting("ferro.backend", "tcp");
    }

    private SystemContext context(int rank) {
        return context(rank, store.endpoint());
    }

    private SystemContext context(int rank, String endpoint) {
        return context(options(rank).storeAt(endpoint));
    }

    private SystemContext context(JoinOptions options) {
        SystemContext made = SystemContext.of(options);
        contexts.add(made);
        return made;
    }

    private List<ProcessGroup> joined() {
        List<CompletableFuture<ProcessGroup>> joining = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            joining.add(Threads.start(context(rank)::join));
        }
        return joining.stream().map(Ranks::result).toList();
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
    void aContextThatClosesWithoutUnfinishedWorkFailsNoGroup() {
        List<ProcessGroup> groups = joined();
        float[][] sums = {{1}, {2}, {3}};
        TcpJob.runOnAll(groups, group -> {
            group.allReduce(sums[group.rank()], ReduceOp.SUM);
            contexts.get(group.rank()).close();
        });

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

        Ranks.assertSays(Ranks.failure(waiting), Code.ABORTED, CAUSE.getMessage());
        assertEquals(Optional.of("aborted: " + CAUSE), contexts.get(0).ended());
        FerroException again = assertThrows(FerroException.class, contexts.get(0)::join);
        assertEquals(Code.ABORTED, again.code());
    }

    @Test
    void anAbortEndsAJoinAndTheJoinsOfTheOtherRanks() {
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

        FerroException failure = Ranks.failure(own);
        Ranks.assertSays(failure, Code.ABORTED, "joining \"world\" as rank 0 was cancelled");
        assertSame(CAUSE, failure.getCause());
        assertFalse(interrupted.get(), "the thread of the join has its flag set");
        assertSays(Ranks.failure(other).getMessage(), "rank 0 of \"world\" has stopped joining", "killed");
    }

    @Test
    void closingAContextEndsAJoinThatWaitsForTheStore() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SystemContext context = context(1, "127.0.0.1:" + silent.getLocalPort());
            CompletableFuture<?> own = Threads.start(context::join);
            Socket joining = silent.accept(); // so the join is under way

            context.close();

            Ranks.assertSays(Ranks.failure(own), Code.ABORTED, "its context was closed");
            joining.close();
        }
    }

    @Test
    void closingAContextEndsTheWaitForTheAddressOfItsStore() {
        SystemContext context = context(options(0).serveStore("no-such-machine.invalid", "0"));
        ThreadOfCall call = new ThreadOfCall();
        CompletableFuture<?> own = call.start(context::storeEndpoint);
        call.awaitInside("resolved");

        context.close();

        FerroException failure = Ranks.failure(own);
        assertEquals(Code.ABORTED, failure.code());
        assertTrue(
                failure.getMessage().startsWith("serving the store of \"world\" as rank 0 was cancelled"),
                failure.getMessage());
        String refused = assertThrows(IllegalStateException.class, context::storeEndpoint)
                .getMessage();
        assertTrue(refused.contains("cannot serve the store of \"world\" as rank 0"), refused);
    }

    @Test
    void closingAContextEndsANewGroupThatWaits() {
        endsNewGroup(joined().get(0), contexts.get(0)::close);
    }

    @Test
    void closingAGroupEndsANewGroupThatTakesLongerThanTheBound() {
        List<ProcessGroup> groups = joined();
        endsNewGroup(groups.get(0), () -> groups.get(0).close(Duration.ZERO));
    }

    private static void endsNewGroup(ProcessGroup group, Runnable close) {
        ThreadOfCall call = new ThreadOfCall();
        CompletableFuture<?> own = call.start(() -> group.newGroup(0, 1, 2));
        call.awaitInside("reach");

        close.run();

        FerroException failure = Ranks.failure(own);
        assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
        assertThrows(IllegalStateException.class, () -> group.newGroup(0, 1, 2));
    }

    @Test
    void aCloseWaitsForANewGroupThatAnotherThreadMakes() {
        List<ProcessGroup> groups = joined();
        ThreadOfCall making = new ThreadOfCall();
        CompletableFuture<ProcessGroup> made = making.start(() -> groups.get(0).newGroup(0, 1));
        making.awaitInside("reach");
        ThreadOfCall closing = new ThreadOfCall();
        CompletableFuture<?> closed = closing.start(() -> {
            groups.get(0).close(LONG);
            return true;
        });
        closing.awaitInside("await");

        CompletableFuture<ProcessGroup> other =
                Threads.start(() -> groups.get(1).newGroup(0, 1));

        List<ProcessGroup> pair = List.of(Ranks.result(made), Ranks.result(other));
        float[][] sums = {{1}, {2}};
        TcpJob.runOnAll(pair, group -> group.allReduce(sums[group.rank()], ReduceOp.SUM));
        assertEquals(3, sums[0][0]);
        TcpJob.runOnAll(pair, ProcessGroup::close);
        groups.get(1).close();
        groups.get(2).close();
        assertEquals(true, Ranks.result(closed));
    }

    @Test
    void anAbortAfterTheSlotIsTakenEndsTheJoinsOfTheOtherRanks() {
        CompletableFuture<?> other = Threads.start(context(1)::join);
        SystemContext[] cancelled = {null};
        // the values that must be equal are compared with the slot taken, and before the address is told
        try (Store seen = new CuttingStore(opened(), "world/1/size", () -> cancelled[0].abort(CAUSE))) {
            cancelled[0] = context(options(0).store(seen));

            assertEquals(
                    Code.ABORTED,
                    Ranks.failure(Threads.start(cancelled[0]::join)).code());
            FerroException told = Ranks.failure(other);
            assertTrue(told.getMessage().contains("rank 0 of \"world\" has stopped joining"), told.getMessage());
        }
    }

    /** A thread that makes one call. */
    private static final class ThreadOfCall {
        private volatile Thread thread;

        <T> CompletableFuture<T> start(Supplier<T> call) {
            return Threads.start(() -> {
                thread = Thread.currentThread();
                return call.get();
            });
        }

        /** Waits until the thread waits inside a method. */
        void awaitInside(String method) {
            long deadline = System.nanoTime() + LONG.toNanos();
            while (thread == null
                    || thread.getState() != Thread.State.TIMED_WAITING
                    || Arrays.stream(thread.getStackTrace())
                            .noneMatch(frame -> frame.getMethodName().equals(method))) {
                assertTrue(System.nanoTime() - deadline < 0, "the call does not wait in " + method);
                Thread.onSpinWait();
            }
        }
    }

    /** Runs a task when a key is compared. */
    private record CuttingStore(Store seen, String key, Runnable task) implements Store {
        @Override
        public byte[] compareAndSet(String name, byte[] expected, byte[] value) {
            if (name.equals(key)) {
                task.run();
            }
            return seen.compareAndSet(name, expected, value);
        }

        @Override
        public void set(String name, byte[] value) {
            seen.set(name, value);
        }

        @Override
        public CompletionStage<byte[]> when(String name) {
            return seen.when(name);
        }

        @Override
        public byte[] get(String name, Duration timeout) {
            return seen.get(name, timeout);
        }

        @Override
        public long add(String name, long delta) {
            return seen.add(name, delta);
        }

        @Override
        public boolean delete(String name) {
            return seen.delete(name);
        }

        @Override
        public void close() {
            seen.close();
        }
    }

    @Test
    void anInterruptEndsAJoinAndStaysSet() {
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

        assertEquals(Code.INTERRUPTED, Ranks.failure(own).code());
        assertTrue(interrupted.get(), "the interrupt of the caller is gone");
        assertEquals(Optional.empty(), context.ended());
    }

    /** Waits until so many ranks have shown where they listen. */
    private void awaitCards(int ranks) {
        try (Store seen = opened()) {
            for (int rank = 0; rank < ranks; rank++) {
                seen.get("world/1/card/" + rank, LONG);
            }
        }
    }

    /** Opens the store of rank 2 without a join. */
    private Store opened() {
        SystemContext looking = context(2);
        return new TcpStoreProvider().open(URI.create("tcp://" + store.endpoint()), looking.spec(), looking);
    }
}

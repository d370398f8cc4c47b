package ferro.backend.nccl.comm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.group.SystemContext;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a rank that leaves says, what fails by it, and how long its close waits for the others. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclGoodbyeTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @BeforeEach
    void leaveEarly() {
        StandInHooks.standInEarlyReturns(1);
    }

    private static void sums(CollectiveBackend rank) {
        HostTensor data = HostTensor.of(new float[] {4, 7});
        rank.run(Collective.allReduce(data, ReduceOp.SUM), SOON);
    }

    private static FerroException failure(Throwable outcome, Code code, int culprit) {
        FerroException failure = assertInstanceOf(FerroException.class, outcome);
        assertEquals(code, failure.code(), failure.toString());
        assertEquals(Set.of(culprit), failure.where().culprits(), failure.toString());
        return failure;
    }

    private static long millisSince(long begun) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    }

    @Test
    @DisplayName(
            "a call that a rank has not made before it left fails with the numbers of both, long before its deadline")
    void theFirstCallThatTheLeaverDidNotMakeFails() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            long[] millis = new long[3];
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                sums(rank);
                sums(rank);
                if (rank.rank() == 1) {
                    rank.close();
                    return;
                }
                long begun = System.nanoTime();
                try {
                    sums(rank);
                } finally {
                    millis[rank.rank()] = millisSince(begun);
                }
            });
            assertNull(outcomes.get(1));
            for (int rank : new int[] {0, 2}) {
                FerroException failure = failure(outcomes.get(rank), Code.PEER_LOST, 1);
                String text = failure.getMessage();
                assertTrue(text.contains("rank 1 left group \"ranks\" after seq 2; this call is seq 3"), text);
                assertTrue(millis[rank] < 3_000, "heard after " + millis[rank] + " ms");
            }
        }
    }

    @Test
    @DisplayName("whoever waits long in a call that the leaver has made goes on waiting, and ends well")
    void theCallsThatTheLeaverMadeGoOn() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            CountDownLatch read = new CountDownLatch(1);
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                float[] data = {rank.rank() + 2};
                if (rank.rank() == 1) {
                    // longer than rank 2 waits before it reads what the others have left
                    assertFalse(read.await(600, TimeUnit.MILLISECONDS), "rank 2 cannot be done");
                }
                rank.run(Collective.reduce(HostTensor.of(data), HostTensor.of(data), ReduceOp.SUM, 2), SOON);
                if (rank.rank() == 2) {
                    assertArrayEquals(new float[] {9}, data);
                }
                rank.close();
                read.countDown();
            });
            for (Throwable outcome : outcomes) {
                assertNull(outcome);
            }
        }
    }

    @ParameterizedTest(name = "{0} messages, rank 0 {2}")
    @CsvSource({
        "2, 'it has sent 2 messages to this rank, and this call is for message 3', receives",
        "2, 'it has taken 2 messages from this rank, and this call is for message 3', sends"
    })
    @DisplayName(
            "a message that the leaver has neither sent nor taken fails with the numbers of both, one before that does not")
    void messagesFailByTheirNumber(int made, String says, String how) {
        // without buffers: a send waits for its receive
        StandInHooks.standInEarlyReturns(how.equals("receives") ? 1 : 0);
        try (NcclRanks ranks = NcclRanks.of(2)) {
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                boolean sends = (rank.rank() == 0) == how.equals("sends");
                int count = rank.rank() == 0 ? made + 1 : made;
                for (int message = 0; message < count; message++) {
                    float[] data = {message + 3};
                    HostTensor tensor = HostTensor.of(data);
                    int peer = 1 - rank.rank();
                    (sends ? rank.send(tensor, peer, 0, SOON) : rank.recv(tensor, peer, 0, SOON)).await();
                    assertEquals(message + 3, data[0]);
                }
                rank.close();
            });
            assertNull(outcomes.get(1));
            FerroException failure = failure(outcomes.get(0), Code.PEER_LOST, 1);
            assertTrue(failure.getMessage().contains(says), failure.getMessage());
        }
    }

    @Test
    @DisplayName("newGroup with a rank that has left fails at once and names it; the parent goes on without a failure")
    void newGroupWithALeaverFails() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            List<Throwable> outcomes = ranks.outcomes(rank -> {
                sums(rank);
                if (rank.rank() == 0) {
                    rank.close();
                } else {
                    long begun = System.nanoTime();
                    try {
                        rank.newGroup(new int[] {1, 0, 2}, "all", SOON);
                    } finally {
                        assertTrue(millisSince(begun) < 5_000, "told after " + millisSince(begun) + " ms");
                        assertTrue(rank.failure().isEmpty(), "the parent has failed");
                        rank.close();
                    }
                }
            });
            assertNull(outcomes.get(0));
            for (int rank : new int[] {1, 2}) {
                FerroException failure = failure(outcomes.get(rank), Code.PEER_LOST, 0);
                assertTrue(
                        failure.getMessage().contains("rank 0 left group \"ranks\" after seq 1"), failure.getMessage());
            }
        }
    }

    @Test
    @DisplayName("where all say goodbye every communicator is destroyed, and none aborted")
    void allGoodbyesEndInOrder() {
        NativeLog.start();
        try (NcclRanks ranks = NcclRanks.of(3)) {
            ranks.run(NcclGoodbyeTest::sums);
        }
        List<NativeLog.Line> made = NativeLog.stop();
        assertEquals(3, NativeLog.count(made, "ncclCommDestroy"));
        assertEquals(0, NativeLog.count(made, "ncclCommAbort"));
    }

    @Test
    @DisplayName(
            "close waits for goodbyes that do not come at most its bound, and aborts then; close without time does not wait")
    void closeKeepsItsBound() {
        for (long bound : new long[] {0, 400}) {
            try (NcclRanks ranks = NcclRanks.of(2)) {
                ranks.run(NcclGoodbyeTest::sums);
                NativeLog.start();
                long begun = System.nanoTime();
                ranks.rank(0).close(Duration.ofMillis(bound));
                long millis = millisSince(begun);
                assertTrue(
                        millis >= bound && millis < bound + 2_500, "close of " + bound + " ms took " + millis + " ms");
                List<NativeLog.Line> made = NativeLog.stop();
                assertEquals(0, NativeLog.count(made, "ncclCommDestroy"));
                assertEquals(1, NativeLog.count(made, "ncclCommAbort"));
            }
        }
    }

    @Test
    @DisplayName(
            "closing a subgroup waits for nobody; its communicator lives until its last rank has left it, and no longer")
    void closingASubgroupWaitsForNobody() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            CollectiveBackend[] parts = new CollectiveBackend[2];
            ranks.run(rank -> parts[rank.rank()] = rank.newGroup(new int[] {1, 0}, "part", SOON));
            int live = StandInHooks.standInLive("comm");
            NativeLog.start();
            long begun = System.nanoTime();
            parts[1].close();
            assertTrue(millisSince(begun) < 1_500, "close took " + millisSince(begun) + " ms");
            assertEquals(live, StandInHooks.standInLive("comm"), "communicators while one rank is in");
            parts[0].close();
            long limit = System.nanoTime() + SOON.toNanos();
            while (StandInHooks.standInLive("comm") > live - 2 && System.nanoTime() < limit) {
                LockSupport.parkNanos(1_000_000);
            }
            assertEquals(live - 2, StandInHooks.standInLive("comm"), "communicators when both have left");
            assertEquals(0, NativeLog.count(NativeLog.stop(), "ncclCommAbort"));
            ranks.run(NcclGoodbyeTest::sums);
        }
    }

    @Test
    @DisplayName(
            "the ranks of one process may be closed one after the other by one thread: no close waits for a later one")
    void ranksOfOneProcessAreClosedInTurn() {
        try (SystemContext context = SystemContext.of(StandIn.settings())) {
            List<JnaNcclBackend> ends = NcclWorld.createWorld(context, 0, 1, 2);
            NativeLog.start();
            long begun = System.nanoTime();
            ends.forEach(JnaNcclBackend::close);
            assertTrue(millisSince(begun) < 3_000, "three closes took " + millisSince(begun) + " ms");
            List<NativeLog.Line> made = NativeLog.stop();
            assertEquals(3, NativeLog.count(made, "ncclCommDestroy"));
            assertEquals(0, NativeLog.count(made, "ncclCommAbort"));
        }
    }

    // the store that rank 0 serves

    /** A store that is gone for all when the rank that serves it gives it back. */
    private static final class Served extends CountingStore {
        private volatile boolean gone;

        @Override
        public boolean servedHere() {
            return true;
        }

        private void check() {
            if (gone) {
                throw new FerroException(Code.RENDEZVOUS, FerroException.Where.of("", -1), "the store has gone away");
            }
        }

        @Override
        public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
            check();
            return super.compareAndSet(key, expected, value);
        }

        @Override
        public long add(String key, long delta) {
            check();
            return super.add(key, delta);
        }
    }

    /** Joins with rank 0 as the one that serves. */
    private static List<CompletableFuture<Void>> served(Served store, NcclRanks.Body body) {
        List<CompletableFuture<Void>> running = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            boolean serves = rank == 0;
            SystemContext own = NcclRanks.context(rank, serves ? store : new Guest(store), Map.of());
            ForwardingContext context = new ForwardingContext(own) {
                @Override
                public void releaseStore() {
                    store.gone |= serves;
                }
            };
            GroupSpec group = GroupSpec.of("served", rank, 3, SOON);
            running.add(NcclRanks.on("rank-" + rank, () -> {
                try (JnaNcclBackend end = NcclWorld.join(group, context)) {
                    body.run(end);
                } finally {
                    own.close();
                }
                return null;
            }));
        }
        return running;
    }

    /** The same store as seen by a rank that does not serve it. */
    private static final class Guest extends CountingStore {
        private final Served served;

        Guest(Served served) {
            this.served = served;
        }

        @Override
        public void set(String key, byte[] value) {
            served.set(key, value);
        }

        @Override
        public java.util.concurrent.CompletionStage<byte[]> when(String key) {
            return served.when(key);
        }

        @Override
        public byte[] get(String key, Duration timeout) {
            return served.get(key, timeout);
        }

        @Override
        public long add(String key, long delta) {
            return served.add(key, delta);
        }

        @Override
        public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
            return served.compareAndSet(key, expected, value);
        }
    }

    @Test
    @DisplayName("the rank that serves the store stays after a failure until the others have read there what happened")
    void theStoreStaysUntilAllHaveLooked() {
        CountDownLatch aborted = new CountDownLatch(1);
        CountDownLatch late = new CountDownLatch(1);
        List<CompletableFuture<Void>> ranks = served(new Served(), rank -> {
            sums(rank);
            if (rank.rank() == 0) {
                rank.abort(new IllegalStateException("out of paper"));
                aborted.countDown();
                return;
            }
            assertTrue(aborted.await(10, TimeUnit.SECONDS), "rank 0 has not aborted");
            if (rank.rank() == 2) {
                assertFalse(late.await(500, TimeUnit.MILLISECONDS), "nobody says so");
            }
            sums(rank);
        });
        long begun = System.nanoTime();
        assertNull(NcclRanks.outcome(ranks.get(0)));
        for (int rank : new int[] {1, 2}) {
            FerroException failure = failure(NcclRanks.outcome(ranks.get(rank)), Code.ABORTED, 0);
            assertTrue(failure.getMessage().contains("out of paper"), failure.getMessage());
        }
        assertTrue(millisSince(begun) < 4_500, "the store was held for " + millisSince(begun) + " ms");
    }

    @Test
    @DisplayName("the rank that serves the store stays until all others have heard all goodbyes, a late one too")
    void theStoreStaysUntilAllHaveLeft() {
        CountDownLatch late = new CountDownLatch(1);
        NativeLog.start();
        List<CompletableFuture<Void>> ranks = served(new Served(), rank -> {
            sums(rank);
            if (rank.rank() == 2) {
                assertFalse(late.await(300, TimeUnit.MILLISECONDS), "nobody says so");
            }
        });
        for (CompletableFuture<Void> rank : ranks) {
            assertNull(NcclRanks.outcome(rank));
        }
        List<NativeLog.Line> made = NativeLog.stop();
        assertEquals(3, NativeLog.count(made, "ncclCommDestroy"));
        assertEquals(0, NativeLog.count(made, "ncclCommAbort"));
    }
}

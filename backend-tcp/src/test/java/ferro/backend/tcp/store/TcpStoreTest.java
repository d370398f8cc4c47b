package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.Store;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Stranger;
import ferro.backend.tcp.net.Strangers;
import ferro.backend.tcp.net.Threads;
import ferro.spi.GroupSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** The store over real sockets. */
@Timeout(60)
class TcpStoreTest {
    private static final long PROMISED_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int SLOW_BY_CHANCE = 3;
    private static final int BESIDE = 6;

    private final Ranks ranks = Ranks.onLoopback();

    @AfterEach
    void end() {
        ranks.close();
    }

    private Store client(int rank) {
        return ranks.context(GroupSpec.of("g", rank, 4, Ranks.LONG), Map.of()).store();
    }

    @Test
    void oneClientReadsWhatAnotherWrites() {
        Store first = client(1);
        Store second = client(2);

        first.set("a/b", new byte[] {1, 2, 3});

        assertArrayEquals(new byte[] {1, 2, 3}, second.get("a/b", Ranks.LONG));
        assertEquals(7, second.add("n", 7));
        assertEquals(4, first.add("n", -3));
        assertNull(first.compareAndSet("c", new byte[] {1}, new byte[] {2}));
        assertArrayEquals(new byte[] {5}, second.compareAndSet("c", null, new byte[] {5}));
        assertArrayEquals(new byte[] {5}, first.compareAndSet("c", null, new byte[] {6}));
        assertTrue(first.delete("c"));
        assertFalse(second.delete("c"));
        assertArrayEquals(new byte[0], second.compareAndSet("empty", null, new byte[0]));
    }

    @Test
    void aWaiterReceivesTheValueWhenTheKeyIsSet() {
        Store first = client(1);
        CompletableFuture<byte[]> waiting = first.when("later").toCompletableFuture();
        assertFalse(waiting.isDone());

        client(2).set("later", new byte[] {42});

        assertArrayEquals(new byte[] {42}, Ranks.result(waiting));
        // more than a client may wait for at once
        for (int i = 0; i <= 16 * 1024; i++) {
            waiting = first.when("later").toCompletableFuture();
        }
        assertArrayEquals(new byte[] {42}, Ranks.result(waiting));
    }

    @Test
    void aKeyThatIsNeverSetIsNamedAtTheTimeout() {
        Store store = client(1);

        var failure = assertThrows(FerroException.class, () -> store.get("never", Duration.ofMillis(60)));

        assertEquals(Code.RENDEZVOUS, failure.code());
        assertTrue(failure.getMessage().contains("\"never\""), failure.getMessage());
        assertTrue(failure.getMessage().contains("60 ms"), failure.getMessage());
        assertEquals(3, store.add("n", 3));
    }

    @Test
    void aRequestOfAJoinDoesNotWaitBeyondTheJoinDeadline() throws InterruptedException {
        TcpStore store = (TcpStore) client(1);
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch resumed = new CountDownLatch(1);
        ranks.server.onSet((key, value) -> {
            stopped.countDown();
            Threads.awaitQuietly(resumed);
        });
        store.set("stop", new byte[1]);
        stopped.await();
        long begun = System.nanoTime();

        FerroException late = assertThrows(
                FerroException.class, () -> store.until(() -> begun).compareAndSet("key", null, new byte[1]));
        resumed.countDown();

        assertTrue(TcpStore.isUnanswered(late), late.getMessage());
        assertTrue(System.nanoTime() - begun < Ranks.LONG.toNanos() / 2, late.getMessage());
        assertEquals(3, store.add("n", 3));
    }

    @Test
    void keysAndValuesBeyondTheirLimitsAreMisuseWithBothNumbers() {
        Store store = client(1);

        var key = assertThrows(IllegalArgumentException.class, () -> store.set("k".repeat(1025), new byte[1]));
        var value = assertThrows(IllegalArgumentException.class, () -> store.set("k", new byte[(1 << 20) + 1]));

        assertTrue(key.getMessage().contains("1025") && key.getMessage().contains("1024"), key.getMessage());
        assertTrue(
                value.getMessage().contains("1048577") && value.getMessage().contains("1048576"), value.getMessage());
        byte[] most = new byte[1 << 20];
        most[most.length - 1] = 9;
        store.set("k".repeat(1024), most);
        assertArrayEquals(most, store.get("k".repeat(1024), Ranks.LONG));
    }

    @Test
    void aKeyWithHalfASurrogatePairIsRefused() {
        Store store = client(1);

        for (Executable call : List.<Executable>of(
                () -> store.set("a/\uD83D", new byte[1]),
                () -> store.when("a/\uD83D"),
                () -> store.get("a/\uD83D", Ranks.LONG),
                () -> store.add("a/\uD83D", 1),
                () -> store.compareAndSet("a/\uD83D", null, new byte[1]),
                () -> store.delete("a/\uD83D"))) {
            var half = assertThrows(IllegalArgumentException.class, call);
            assertTrue(half.getMessage().contains("U+D83D, as character 3"), half.getMessage());
        }
        store.set("a/?", new byte[] {3});
        store.set("a/\uD83D\uDE00", new byte[] {5});
        assertArrayEquals(new byte[] {3}, store.get("a/?", Ranks.LONG));
        assertArrayEquals(new byte[] {5}, store.get("a/\uD83D\uDE00", Ranks.LONG));
    }

    @Test
    void aFullStoreRefusesAndContinues() {
        Store store = client(1);
        for (int i = 0; i < 63; i++) {
            store.set("key" + i, new byte[1 << 20]);
        }

        var failure = assertThrows(FerroException.class, () -> store.compareAndSet("more", null, new byte[1 << 20]));

        assertEquals(Code.RESOURCE, failure.code());
        assertTrue(store.delete("key5"));
        assertEquals(1 << 20, store.compareAndSet("more", null, new byte[1 << 20]).length);
    }

    @Test
    void theEndOfTheServerFailsWaitersAndLaterCalls() {
        Store store = client(1);
        CompletableFuture<byte[]> waiting = store.when("never").toCompletableFuture();

        ranks.server.close();

        FerroException failure = Ranks.failure(waiting);
        assertEquals(Code.RENDEZVOUS, failure.code());
        assertTrue(failure.getMessage().contains("went away"), failure.getMessage());
        assertThrows(FerroException.class, () -> store.add("n", 1));
        store.close();
        assertThrows(IllegalStateException.class, () -> store.add("n", 1));
    }

    @Test
    void anInterruptEndsAWaitWithTheFlagSet() {
        Store store = client(1);
        CompletableFuture<Thread> started = new CompletableFuture<>();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        CompletableFuture<byte[]> waiting = Threads.start(() -> {
            started.complete(Thread.currentThread());
            try {
                return store.get("never", Ranks.LONG);
            } finally {
                flag.complete(Thread.currentThread().isInterrupted());
            }
        });

        Ranks.result(started).interrupt();

        assertEquals(Code.INTERRUPTED, Ranks.failure(waiting).code());
        assertTrue(Ranks.result(flag));
    }

    @Test
    void aClientThatReadsNoAnswersDoesNotDelayAnother() {
        Store store = client(1);
        byte[] one = new byte[1 << 20];
        assertQuickBeside(store, calls -> {
            store.delete("big");
            try (Stranger slow = Stranger.letIn(ranks.server.port(), hello(4))) {
                for (int number = 1; number <= 50; number++) {
                    slow.say(new StoreCodec.StoreRequest(
                                    StoreCodec.StoreOperation.WHEN, number, "big", new byte[0], null)
                            .encoded());
                }
                store.set("big", one);

                Spells beside = calls.get();

                byte[] first = slow.hear(StoreCodec.ANSWER_HEAD_BYTES + one.length);
                assertEquals(1, ByteBuffer.wrap(first).getInt(), "the answers wait for their reader");
                return Optional.of(beside);
            }
        });
    }

    @Test
    void aCallTakesLessThan10MillisBeside250UnauthenticatedPeers() {
        try (Ranks many = new Ranks(null, 64)) {
            Store store =
                    many.context(GroupSpec.of("g", 1, 64, Ranks.LONG), Map.of()).store();
            // it lets 4 for each of 64 ranks into their handshake at a time, so that all strangers are in it
            assertQuickBeside(store, calls -> {
                try (Strangers strangers = Strangers.at(many.server.port(), 200, 50, hello(64))) {
                    Spells beside = calls.get();
                    return strangers.areThere() ? Optional.of(beside) : Optional.empty();
                }
            });
        }
    }

    private static Hello hello(int worldSize) {
        return new Hello(
                Hello.ConnectionKind.STORE,
                "default",
                new Hello.RankPair(0, 1, worldSize, -1),
                Hello.ChannelIdentity.NONE,
                new Hello.HelloOptions(false, false),
                new Hello.AttemptId(1, 1, new byte[Hello.NONCE_BYTES]));
    }

    /** Comes, has the calls made, and goes; returns nothing if it was not there all the time. */
    @FunctionalInterface
    private interface Company {
        Optional<Spells> beside(Supplier<Spells> calls);
    }

    /** Spells of calls: how many had no slow one, and of all of them the calls, the slow ones, and the slow ones of the machine. */
    private record Spells(int quick, int calls, int slow, int machineSlow) {
        /** On a machine that does something else, calls of a store that serves nobody beside are slow, too. */
        boolean isSlowByItself() {
            return quick <= BESIDE / 2 && slow > SLOW_BY_CHANCE + 4 * machineSlow;
        }
    }

    /**
     * In most spells no call is slow. The store is not to blame for a machine that runs other work: between any two calls there is one
     * to another store, which serves nobody beside; slow spells count where that was quick, and three times over; else only half of
     * the calls may be slow.
     */
    private static void assertQuickBeside(Store store, Company company) {
        try (Ranks alone = new Ranks(null, 2)) {
            Store quiet = alone.context(GroupSpec.of("quiet", 1, 2, Ranks.LONG), Map.of())
                    .store();
            assertQuickBeside(store, company, () -> quiet.add("n", 1));
        }
    }

    private static void assertQuickBeside(Store store, Company company, Runnable control) {
        List<Spells> all = new ArrayList<>();
        int slow = 0;
        for (int tries = 0; tries < 10 && slow < 3; tries++) {
            Optional<Spells> beside = company.beside(() -> spells(() -> store.add("n", 1), control));
            beside.ifPresent(all::add);
            if (beside.isPresent() && beside.get().quick > BESIDE / 2) {
                return;
            }
            slow += beside.filter(Spells::isSlowByItself).isPresent() ? 1 : 0;
        }
        assertTrue(slow < 3, () -> "calls are slow on a machine that has time: " + all);
        assertTrue(!all.isEmpty(), "in no try were the others there all the time");
        assertTrue(
                all.stream().mapToInt(Spells::slow).sum() * 2
                        < all.stream().mapToInt(Spells::calls).sum(),
                () -> "most calls are slow: " + all);
    }

    /** Calls for spells of 50 ms, in which each dripping stranger says something. */
    private static Spells spells(Runnable call, Runnable control) {
        int quick = 0;
        int calls = 0;
        int slow = 0;
        int machineSlow = 0;
        for (int spell = 0; spell < BESIDE; spell++) {
            int slowBefore = slow;
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
            while (System.nanoTime() < until) {
                machineSlow += isSlow(control);
                slow += isSlow(call);
                calls++;
            }
            quick += slow == slowBefore ? 1 : 0;
        }
        return new Spells(quick, calls, slow, machineSlow);
    }

    private static int isSlow(Runnable call) {
        long start = System.nanoTime();
        call.run();
        return System.nanoTime() - start >= PROMISED_NANOS ? 1 : 0;
    }
}

package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.Store;
import ferro.spi.GroupSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The store over real sockets. */
@Timeout(60)
class TcpStoreTest {
    private static final long PROMISED_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Ranks ranks = Ranks.onLoopback();

    @AfterEach
    void end() {
        ranks.close();
    }

    private Store client(int rank) {
        return ranks.context(new GroupSpec("g", rank, 4, Ranks.LONG), Map.of()).store();
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
    void whoWaitsIsToldWhenTheKeyComes() {
        Store first = client(1);
        CompletableFuture<byte[]> waiting = first.when("later").toCompletableFuture();
        assertFalse(waiting.isDone());

        client(2).set("later", new byte[] {42});

        assertArrayEquals(new byte[] {42}, Ranks.result(waiting));
    }

    @Test
    void aKeyThatNeverComesIsNamedAtItsTime() {
        Store store = client(1);

        var failure = assertThrows(FerroException.class, () -> store.get("never", Duration.ofMillis(60)));

        assertEquals(Code.RENDEZVOUS, failure.code());
        assertTrue(failure.getMessage().contains("\"never\""), failure.getMessage());
        assertTrue(failure.getMessage().contains("60 ms"), failure.getMessage());
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
    void aFullStoreRefusesAndGoesOn() {
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
    void theEndOfTheServerFailsWhoWaitsAndLaterCalls() {
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
    void aMemberThatReadsNoAnswersDoesNotDelayAnother() {
        Store store = client(1);
        byte[] one = new byte[1 << 20];
        try (Stranger slow = Stranger.letIn(ranks.server.port(), hello(4))) {
            for (int number = 1; number <= 50; number++) {
                slow.say(new StoreFrames.Request(StoreFrames.Operation.WHEN, number, "big", new byte[0], null)
                        .encoded());
            }
            store.set("big", one);

            assertInTenMillis(slowestCall(store, 200));

            byte[] first = slow.hear(StoreFrames.ANSWER_HEAD_BYTES + one.length);
            assertEquals(1, ByteBuffer.wrap(first).getInt(), "the answers wait for their reader");
        }
    }

    @Test
    void aCallTakesLessThanTenMillisBesideTwoHundredIdleAndFiftyDrippingStrangers() {
        try (Ranks many = new Ranks(null, 64)) {
            long best = Long.MAX_VALUE;
            for (int tries = 0; tries < 10 && best >= PROMISED_NANOS; tries++) {
                best = Math.min(best, slowestBesideStrangers(many));
            }
            assertTrue(best < Long.MAX_VALUE, "in no try did all strangers stay in their handshake");
            assertInTenMillis(best);
        }
    }

    /** The store lets 4 for each of 64 ranks into their handshake at a time, so that all strangers are in it. */
    private static long slowestBesideStrangers(Ranks many) {
        try (Strangers strangers = Strangers.at(many.server.port(), 200, 50, hello(64))) {
            GroupSpec spec = new GroupSpec("g", 1, 64, Ranks.LONG);
            Store store = many.context(spec, Map.of()).store();
            long slowest = slowestCall(store, 40);
            return strangers.areThere() ? slowest : Long.MAX_VALUE;
        }
    }

    private static Hello hello(int worldSize) {
        return new Hello(
                Hello.Kind.STORE,
                "default",
                new Hello.Member(0, 1, worldSize, -1),
                Hello.Channel.NONE,
                new Hello.Options(false, false),
                new byte[Hello.NONCE_BYTES]);
    }

    private static void assertInTenMillis(long nanos) {
        assertTrue(nanos < PROMISED_NANOS, "the slowest call took " + nanos / 1_000 + " us");
    }

    /**
     * Calls for spells of 50 ms, in which each dripping stranger says something, until no call of one takes too long: a machine
     * that does something else for a while is no fault of the store. Returns the slowest call of the best spell.
     */
    private static long slowestCall(Store store, int spells) {
        long best = Long.MAX_VALUE;
        for (int spell = 0; spell < spells && best >= PROMISED_NANOS; spell++) {
            long slowest = 0;
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
            for (long start = System.nanoTime(); start < until; start = System.nanoTime()) {
                store.add("n", 1);
                slowest = Math.max(slowest, System.nanoTime() - start);
            }
            best = Math.min(best, slowest);
        }
        return best;
    }
}

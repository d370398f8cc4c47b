package ferro.examples.plain;

import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.harness.OnThread;
import ferro.harness.Says;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class QueueBackendTest {
    private static final Duration SHORT = Duration.ofMillis(30);

    @Test
    void aMessageIsReceivedByItsTag() {
        List<QueueBackend> ranks = QueueBackend.createGroup(2);
        ranks.get(0).send(message(3, 1, 4), 1, 8, SHORT);
        ranks.get(0).send(message(5, 9), 1, 7, SHORT);
        ByteBuffer received = ByteBuffer.allocate(2);

        ranks.get(1).recv(received, 0, 7, SHORT);

        assertEquals(message(5, 9), received.flip());
    }

    @Test
    void aReceiveOfAnotherLengthIsAMismatch() {
        List<QueueBackend> ranks = QueueBackend.createGroup(2);
        ranks.get(0).send(message(3, 1, 4), 1, 8, SHORT);

        Says.Call call = () -> ranks.get(1).recv(ByteBuffer.allocate(5), 0, 8, SHORT);

        assertFails(Code.MISMATCH, call, "has 3 bytes, need 5");
    }

    @Test
    void aReceiveWithoutAMessageTimesOut() {
        QueueBackend rank = QueueBackend.createGroup(2).get(1);

        FerroException failure = assertFails(Code.TIMED_OUT, () -> rank.recv(ByteBuffer.allocate(5), 0, 8, SHORT));

        assertEquals(Set.of(0), failure.where().culprits());
    }

    @Test
    void aClosedPeerIsLostOnceItsMessagesAreRead() {
        List<QueueBackend> ranks = QueueBackend.createGroup(3);
        ranks.get(2).send(message(6), 1, 0, SHORT);
        ranks.get(2).close();
        ranks.get(1).recv(ByteBuffer.allocate(1), 2, 0, SHORT);

        List<Says.Call> calls = List.of(
                () -> ranks.get(1).recv(ByteBuffer.allocate(1), 2, 0, SHORT),
                () -> ranks.get(1).send(message(6), 2, 0, SHORT));

        for (Says.Call call : calls) {
            FerroException failure = assertFails(Code.PEER_LOST, call);
            assertEquals(Set.of(2), failure.where().culprits());
        }
    }

    @Test
    void aCloseEndsItsOwnPendingCalls() throws Exception {
        QueueBackend rank = QueueBackend.createGroup(2).get(0);
        Says.Call call = () -> rank.recv(ByteBuffer.allocate(1), 1, 0, Duration.ofSeconds(20));
        Future<FerroException> pending = OnThread.start(() -> assertFails(Code.ABORTED, call));

        rank.close();

        assertEquals(Code.ABORTED, pending.get(10, TimeUnit.SECONDS).code());
    }

    @Test
    void anInterruptEndsTheWaitAndKeepsTheFlag() {
        QueueBackend rank = QueueBackend.createGroup(2).get(0);
        Thread.currentThread().interrupt();

        FerroException failure = assertThrows(
                FerroException.class, () -> rank.recv(ByteBuffer.allocate(1), 1, 0, Duration.ofSeconds(20)));
        assertTrue(Thread.interrupted(), "the flag is gone");
        assertEquals(Code.INTERRUPTED, failure.code());
    }

    @Test
    void aBarrierEndsWhenAllRanksHaveCalled() throws Exception {
        int worldSize = 5;
        AtomicInteger arrived = new AtomicInteger();
        List<Future<?>> ends = new ArrayList<>();
        for (QueueBackend rank : QueueBackend.createGroup(worldSize)) {
            ends.add(OnThread.start(() -> {
                for (int round = 1; round <= 50; round++) {
                    arrived.incrementAndGet();
                    rank.barrier(Duration.ofSeconds(10));
                    int seen = arrived.get();
                    assertTrue(seen >= round * worldSize, "passed round " + round + " after " + seen + " arrivals");
                }
                return null;
            }));
        }
        for (Future<?> end : ends) {
            end.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void aRankOutsideTheGroupIsRefused() {
        QueueBackend rank = QueueBackend.createGroup(2).get(0);

        assertRefused(InvalidRankException.class, () -> rank.send(message(1), 2, 0, SHORT), "2");
        assertThrows(IllegalArgumentException.class, () -> QueueBackend.createGroup(0));
    }

    private static ByteBuffer message(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length);
        for (int value : values) {
            bytes.put((byte) value);
        }
        return bytes.flip();
    }
}

package ferro.integration;

import static ferro.harness.Says.assertFailed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code ProcessGroup.send} says of room: small sends need no receive until the receiver has no room. */
@Timeout(180)
class RoomForMessagesTest {
    private static final int SMALL = 64 << 10;
    private static final long KEPT = 16L << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Duration DEADLINE = Duration.ofMillis(300);
    /** Both ranks have time to say what they wait for, on a busy machine too. */
    private static final Duration DEADLINE_OF_A_CYCLE = Duration.ofSeconds(3);

    /**
     * The limits above what is kept are those of the buffers between two ranks: 256 KiB in shared memory, and what a kernel
     * may give to two sockets.
     */
    @ParameterizedTest
    @CsvSource({"shm, 512", "tcp, 131072"})
    void aRankInACallBuffers16MebibytesOfMessages(String medium, long bufferKibibytes) {
        try (Ranks ranks = Ranks.over(medium, 2)) {
            Future<Ranks.Ended> receiver =
                    ranks.start(1, group -> group.within(PATIENCE).recv(new int[1], 0, 9));
            AtomicLong sent = new AtomicLong();
            ProcessGroup sender = ranks.group(0);

            // each message counts 256 bytes besides its elements
            long kept = KEPT / (SMALL + 256) * SMALL;
            send(sender.within(PATIENCE), kept, sent);
            FerroException full = assertThrows(
                    FerroException.class,
                    () -> send(sender.within(DEADLINE_OF_A_CYCLE), Long.MAX_VALUE, sent),
                    sent::toString);

            // the receiver waits for a message with another tag, of the same sender
            assertFailed(Code.TIMED_OUT, full, "ranks 0, 1 wait for each other, so no rank alone is to blame");
            assertTrue(sent.get() <= KEPT + (bufferKibibytes << 10), () -> "sent " + sent + " bytes");
            assertEquals(Code.TIMED_OUT, OnThread.result(receiver).failure().code());
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, 512", "tcp, 131072"})
    void aRankOutsideCallsBuffersNoMessages(String medium, long bufferKibibytes) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        try (Ranks ranks = Ranks.over(medium, 2)) {
            Future<Ranks.Ended> receiver = ranks.start(
                    1,
                    group -> assertTrue(done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS), "the sender is not done"));
            AtomicLong sent = new AtomicLong();
            ProcessGroup sender = ranks.group(0);

            sender.within(PATIENCE).send(new int[] {3, 4}, 1, 7);
            FerroException full = assertThrows(
                    FerroException.class, () -> send(sender.within(DEADLINE), Long.MAX_VALUE, sent), sent::toString);

            assertFailed(Code.TIMED_OUT, full, "gave up on rank 1");
            assertTrue(sent.get() <= bufferKibibytes << 10, () -> "sent " + sent + " bytes");
            done.countDown();
            OnThread.result(receiver);
        } finally {
            done.countDown();
        }
    }

    private static void send(ProcessGroup group, long bytes, AtomicLong sent) {
        byte[] message = new byte[SMALL];
        for (long left = bytes; left > 0; left -= SMALL) {
            group.send(HostTensor.of(message), 1, 7);
            sent.addAndGet(SMALL);
        }
    }
}

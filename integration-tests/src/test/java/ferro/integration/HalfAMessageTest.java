package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A sender that stands still in the middle of a message: in the code of a reduction, which its rank runs between two pieces of
 * the message.
 */
@Timeout(120)
class HalfAMessageTest {
    /** 64 MiB, of which neither sockets nor a ring take more than a part at once. */
    private static final int LENGTH = 16 << 20;

    private static final long LENGTH_BYTES = 4L * LENGTH;
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private static final int ATTEMPTS_MAX = 10;

    private final float[] received = new float[LENGTH];
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean complete;

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void aPartlyReceivedMessageTimesOutAtItsDeadline(String medium) {
        boolean stoodStill = false;
        for (int attempt = 0; attempt < ATTEMPTS_MAX && !stoodStill; attempt++) {
            stoodStill = new HalfAMessageTest().standsStillWithin(medium);
        }
        assertTrue(stoodStill, "in " + ATTEMPTS_MAX + " attempts the message never stood still");
    }

    /**
     * Returns false if the message came as a whole between two reductions, or a part of it just before the deadline: on a busy
     * machine the ranks can be this slow.
     */
    private boolean standsStillWithin(String medium) {
        try (Ranks ranks = Ranks.over(medium, 2)) {
            Future<Ended> sending = ranks.start(1, this::send);
            Future<Ended> receiving = ranks.start(0, this::receive);

            Ended receiver = OnThread.result(receiving);
            Ended sender = OnThread.result(sending);
            if (complete) {
                return false;
            }
            FerroException failure = receiver.failure();
            String said = failure.getMessage();
            assertEquals(Code.TIMED_OUT, failure.code(), said);
            if (failure.where().culprits().isEmpty()) {
                return false;
            }
            assertTrue(said.contains("gave up on rank 1 after "), said);
            assertTrue(said.contains("while the message was in flight"), said);
            assertTrue(failure.where().culprits().contains(1), said);
            assertTrue(failure.where().elapsed().compareTo(DEADLINE) >= 0, said);
            long bytes = failure.where().bytesMoved();
            assertTrue(bytes > 0 && bytes < LENGTH_BYTES, bytes + " of " + LENGTH_BYTES + " bytes: " + said);
            assertEquals(Code.TIMED_OUT, sender.failure().code());
            return true;
        }
    }

    private void send(ProcessGroup group) {
        float[] sent = new float[LENGTH];
        Arrays.fill(sent, 3);
        Work send = group.sendAsync(HostTensor.of(sent), 0, 3);
        group.barrier();
        combine(group, ReduceOp.ofFloats("standing still", (a, b) -> {
            if (received[0] != 0) {
                standStill();
            }
            return a + b;
        }));
        send.await();
    }

    private void receive(ProcessGroup group) {
        group.barrier();
        Work receive = group.within(DEADLINE).recvAsync(HostTensor.of(received), 1, 3);
        combine(group, ReduceOp.ofFloats("standing still", (a, b) -> a + b));
        ended.countDown();
        receive.await();
    }

    private static void combine(ProcessGroup group, ReduceOp op) {
        assertThrows(FerroException.class, () -> {
            while (true) {
                group.allReduce(new float[] {2, 5}, op);
            }
        });
    }

    private void standStill() {
        if (received[LENGTH - 1] != 0) {
            complete = true;
            throw new IllegalStateException("all of the message has come between two reductions");
        }
        try {
            assertTrue(ended.await(20, TimeUnit.SECONDS), "the receive has not ended within 20 s");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

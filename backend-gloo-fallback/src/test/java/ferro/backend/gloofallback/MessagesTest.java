package ferro.backend.gloofallback;

import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DeviceTensor;
import ferro.FerroException.Code;
import ferro.FerroTransferException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.HeapDeviceMemory.Direction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends and receives of device tensors. */
class MessagesTest {
    private static final float[] GIVEN = {4, 5, 6};

    @Test
    void messagesPassBetweenDeviceAndHostMemory() {
        try (DeviceGroup group = DeviceGroup.of(3)) {
            group.runAll(rank -> {
                ProcessGroup own = group.group(rank);
                DeviceTensor data = group.tensor(rank, rank == 0 ? GIVEN : new float[3]);
                float[] onHost = new float[3];
                switch (rank) {
                    case 0 -> own.send(data, 1, 3);
                    case 1 -> {
                        own.recv(onHost, 0, 3);
                        own.send(onHost, 2, 4);
                    }
                    default -> own.recv(data, 1, 4);
                }
                assertArrayEquals(rank == 1 ? new float[3] : GIVEN, group.floats(rank, data), "rank " + rank);
                assertArrayEquals(rank == 1 ? GIVEN : new float[3], onHost, "host memory of rank " + rank);
            });
        }
    }

    @ParameterizedTest(name = "{0} elements")
    @ValueSource(ints = {0, 3, 100_000})
    void ranksMayReceiveBeforeTheySend(int length) {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.runAll(rank -> {
                float[] given = new float[length];
                java.util.Arrays.fill(given, rank + 3);
                DeviceTensor in = group.tensor(rank, new float[length]);
                Work receive = group.group(rank).recvAsync(in, 1 - rank, 0);
                Work send = group.group(rank).sendAsync(group.tensor(rank, given), 1 - rank, 0);
                receive.completion().toCompletableFuture().get(20, TimeUnit.SECONDS);
                send.await();
                assertTrue(receive.isDone() && send.isDone(), "done");
                assertEquals(-1, send.sequence(), "a message has no number");
                java.util.Arrays.fill(given, 1 - rank + 3);
                assertArrayEquals(given, group.floats(rank, in));
            });
        }
    }

    @Test
    @DisplayName("0-11: a message that cannot be copied back is a transfer failure; its sender and the group go on")
    void aFailedCopyOfAReceivedMessageIsATransferFailure() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.heap(1).failCopy(Direction.TO_DEVICE, 1);
            List<Throwable> outcomes = group.outcomes(rank -> {
                DeviceTensor data = group.tensor(rank, GIVEN);
                if (rank == 0) {
                    group.group(0).send(data, 1, 0);
                } else {
                    group.group(1).labelled("letter").recv(data, 0, 0);
                }
            });
            assertNull(outcomes.get(0), "the sender");
            FerroTransferException failure = assertInstanceOf(FerroTransferException.class, outcomes.get(1));
            assertTrue(failure.getMessage().startsWith("recv \"letter\" through"), failure.getMessage());
            assertTrue(failure.getMessage().contains("CPU->GPU transfer failed"), failure.getMessage());
            goesOn(group);
        }
    }

    @Test
    @DisplayName("0-11: a message that cannot be copied out fails as it was thrown; nothing is sent, the group goes on")
    void aFailedCopyOfASentMessageIsThrownUnchanged() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.heap(0).failCopy(Direction.TO_HOST, 1);
            DeviceTensor data = group.tensor(0, GIVEN);
            assertFails(Code.NATIVE, () -> group.group(0).send(data, 1, 0));
            goesOn(group);
        }
    }

    private static void goesOn(DeviceGroup group) {
        group.runAll(rank -> {
            DeviceTensor data = group.tensor(rank, rank + 2);
            group.group(rank).allReduce(data, ReduceOp.PRODUCT);
            assertArrayEquals(new float[] {6}, group.floats(rank, data));
        });
    }

    @Test
    void aReceiveWithoutAMessageTimesOutWithoutHarm() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            DeviceTensor data = group.tensor(0, GIVEN);
            ProcessGroup hasty = group.group(0).within(Duration.ofMillis(100));
            assertFails(Code.TIMED_OUT, () -> hasty.recv(data, 1, 7));
            assertArrayEquals(GIVEN, group.floats(0, data), "memory of the receive");
            goesOn(group);
        }
    }

    @Test
    void aMessageWhoseCopyNeverEndsTimesOut() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.heap(0).stallCopy(Direction.TO_HOST, 1);
            DeviceTensor data = group.tensor(0, GIVEN);
            ProcessGroup hasty = group.group(0).within(Duration.ofMillis(100));
            assertFails(Code.TIMED_OUT, () -> hasty.send(data, 1, 7), "has not ended");
            group.heap(0).endStalledCopies();
        }
    }

    @Test
    void theTensorOfASendMayBeReusedAtOnce() {
        try (DeviceGroup group = DeviceGroup.of(1)) {
            DeviceTensor data = group.tensor(0, GIVEN);
            Work send = group.group(0).sendAsync(data, 0, 0);
            group.heap(0).write(HostTensor.of(new float[] {-1, -1, -1}), data);
            float[] received = new float[3];
            group.group(0).recv(received, 0, 0);
            send.await();
            assertArrayEquals(GIVEN, received);
        }
    }
}

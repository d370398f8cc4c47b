package ferro.backend.gloofallback;

import static ferro.harness.Says.assertRefused;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.tck.HeapDeviceMemory.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What does not go through host memory, through the door: no call that took the slow way. */
class RefusalsTest {
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    @Test
    @DisplayName("decision 6: own reductions, counts and long messages are refused before they count as slow")
    void refusedCallsAreNotCountedAsFallbacks() {
        try (DeviceGroup group = DeviceGroup.of(1)) {
            DeviceTensor data = group.tensor(0, 3, 5);
            DeviceTensor big = group.heap(0).allocate(DataType.UINT8, new long[] {(64 << 20) + 1}, 0);
            ReduceOp own = ReduceOp.of("last", (into, received) -> {});

            assertSays(refused(group, Collective.allReduce(data, own)), "user:last");
            String bits = refused(group, Collective.allReduce(data, ReduceOp.BXOR));
            assertTrue(bits.startsWith("allReduce"), bits);
            String parts = refused(group, Collective.allGather(data, data, new long[] {2}));
            assertSays(parts, "allGather with counts", "leave out the counts");
            for (Message message : List.of(Message.send(big, 0, 0), Message.recv(big, 0, 0))) {
                assertRefused(
                        UnsupportedOperationException.class,
                        () -> group.door(0).transfer(message, group.host(0), DEADLINE),
                        "67108865 bytes",
                        "67108864");
                assertRefused(
                        UnsupportedOperationException.class,
                        () -> (message.kind().isSend()
                                        ? group.group(0).sendAsync(big, 0, 0)
                                        : group.group(0).recvAsync(big, 0, 0))
                                .await(),
                        "67108865 bytes");
            }

            assertNothingCounts(group);
            group.group(0)
                    .allReduceAsync(HostTensor.of(new int[] {3}), ReduceOp.SUM)
                    .await();
        }
    }

    @Test
    @DisplayName("decision 6: a setting that makes no sense is told before the call counts as slow")
    void aCallWithAnInvalidSettingIsNotCountedAsFallback() {
        try (DeviceGroup group = DeviceGroup.with(1, Map.of("ferro.fallback.chunk", "many"))) {
            Collective call = Collective.allReduce(group.tensor(0, 3, 5), ReduceOp.SUM);
            assertRefused(
                    IllegalArgumentException.class,
                    () -> group.door(0).run(call, group.host(0), DEADLINE),
                    "ferro.fallback.chunk=many");
            assertNothingCounts(group);
        }
    }

    /** Returns why a door refuses a call, which a group refuses too. */
    private static String refused(DeviceGroup group, Collective call) {
        String ofGroup = assertThrows(
                        UnsupportedOperationException.class,
                        () -> group.group(0).submit(call))
                .getMessage();
        assertTrue(ofGroup.startsWith(call.kind().label()), ofGroup);
        return assertThrows(
                        UnsupportedOperationException.class, () -> group.door(0).run(call, group.host(0), DEADLINE))
                .getMessage();
    }

    private static void assertNothingCounts(DeviceGroup group) {
        for (String kind : List.of("allReduce", "allGather", "send", "recv")) {
            assertEquals(0, group.door(0).fallbackCount(kind), kind);
        }
        assertEquals(0, group.copies(Direction.TO_HOST), "copies");
    }
}

package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.spi.ForwardingBackend;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.CopyEvent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** In which order a call over the host copies and calls, and on which device. */
class CopyOrderTest {
    private static final int RANKS = 2;

    private final List<List<String>> steps = List.of(new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());

    @Test
    @DisplayName(
            "0-10: an all-reduce copies out, then calls the host's, then copies in to the input's own device, whose"
                    + " shape the result has")
    void anAllReduceCopiesOutCallsAndCopiesInToTheInputsDevice() {
        try (DeviceGroup group = DeviceGroup.with(RANKS, Map.of(), this::noting)) {
            group.runAll(rank -> {
                HeapDeviceMemory heap = group.heap(rank);
                int device = RANKS - 1 - rank;
                float[] given = {1, 2, 3, 4, 5, 6 + rank};
                DeviceTensor in = heap.upload(HostTensor.of(given), device, 2, 3);
                heap.watch(event -> note(rank, event));

                DeviceTensor out = group.door(rank).allReduce(in, ReduceOp.SUM, group.host(rank));

                assertEquals(
                        List.of(
                                "begin TO_HOST of " + device,
                                "end TO_HOST of " + device,
                                "allReduce",
                                "begin TO_DEVICE of " + device,
                                "end TO_DEVICE of " + device),
                        steps.get(rank));
                assertEquals(device, out.device());
                assertArrayEquals(new long[] {2, 3}, out.shape());
                assertArrayEquals(new float[] {2, 4, 6, 8, 10, 13}, group.floats(rank, out));
            });
        }
    }

    private void note(int rank, CopyEvent event) {
        steps.get(rank).add((event.ended() ? "end " : "begin ") + event.direction() + " of " + event.device());
    }

    private CollectiveBackend noting(CollectiveBackend host) {
        return new ForwardingBackend(host) {
            @Override
            public Work submit(Collective call, CallOptions options) {
                steps.get(rank()).add(call.kind().label());
                return super.submit(call, options);
            }

            @Override
            public void run(Collective call, CallOptions options) {
                steps.get(rank()).add(call.kind().label());
                super.run(call, options);
            }
        };
    }
}

package ferro.examples.snippets;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Allocation;
import ferro.CallCounters;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.tck.HeapDeviceMemory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ProcessGroupSnippetsTest {
    private static final int RANKS = 4;

    private final AtomicInteger batches = new AtomicInteger();

    private void prepareNextBatch() {
        batches.incrementAndGet();
    }

    private static void train(ProcessGroup group) {
        if (group.rank() == 2) {
            throw new IllegalStateException("batch 17 has no labels");
        }
        group.barrier();
    }

    private static void trainOrAbort(ProcessGroup group) {
        // @start region="abort"
        try {
            train(group);
        } catch (RuntimeException | Error failure) {
            group.abort(failure); // the exceptions of the other ranks contain this failure
            throw failure;
        }
        // @end
    }

    @Test
    void anExceptionReachesAllRanksByAbort() {
        SimulatedBackend.run(RANKS, group -> {
            assertRefused(RuntimeException.class, () -> trainOrAbort(group), "batch 17 has no labels");
        });
    }

    @Test
    void joinsAndCloses() {
        Map<String, String> oneRank = Map.of("ferro.rank", "0", "ferro.world.size", "1", "ferro.backend", "simulated");
        oneRank.forEach(System::setProperty);
        try {
            // @start region="join"
            float[] gradient = {1, 2, 3};
            try (ProcessGroup group = ProcessGroup.join()) {
                group.allReduce(gradient, ReduceOp.AVG); // in place: every rank has the mean
            }
            // @end
            assertArrayEquals(new float[] {1, 2, 3}, gradient);
        } finally {
            oneRank.keySet().forEach(System::clearProperty);
        }
    }

    @Test
    void combinesPartOfAnArray() {
        SimulatedBackend.run(RANKS, group -> {
            // @start region="tensors"
            float[] weights = {3, 4, 5, 6};
            HostTensor middle = HostTensor.of(DataType.FLOAT32, weights, 1, 2); // 4 and 5, not copied
            group.broadcast(middle, 0);
            group.allReduce(middle, ReduceOp.SUM);
            // @end
            assertArrayEquals(new float[] {3, 4 * RANKS, 5 * RANKS, 6}, weights);
        });
    }

    @Test
    void combinesMemoryOfTheGroup() {
        SimulatedBackend.run(RANKS, group -> {
            // @start region="allocate"
            Allocation weights = group.allocate(DataType.FLOAT32, 1000);
            group.allReduce(weights.tensor(), ReduceOp.SUM); // copies nothing into and out of shared memory
            // @end
            assertTrue(weights.isShared(), weights.whyNotShared());
        });
    }

    @Test
    void combinesAndJoinsArrays() {
        SimulatedBackend.run(RANKS, group -> {
            // @start region="arrays"
            float[] part = {group.rank(), 10};
            float[] all = new float[group.worldSize() * part.length];
            group.allGather(part, all); // the part of rank r begins at r * part.length
            group.allReduce(part, ReduceOp.SUM);
            // @end
            assertArrayEquals(new float[] {0, 10, 1, 10, 2, 10, 3, 10}, all);
            assertArrayEquals(new float[] {0 + 1 + 2 + 3, 10 * RANKS}, part);
        });
    }

    @Test
    void worksWhileRanksCombine() {
        SimulatedBackend.run(RANKS, group -> {
            float[] gradient = {1, 2};
            // @start region="async"
            Work sum = group.allReduceAsync(gradient, ReduceOp.SUM);
            prepareNextBatch(); // without the gradient
            sum.await();
            // @end
            assertArrayEquals(new float[] {RANKS, 2 * RANKS}, gradient);
        });
        assertEquals(RANKS, batches.get());
    }

    @Test
    void passesMessagesAroundARing() {
        SimulatedBackend.run(RANKS, group -> {
            int[] own = {group.rank()};
            int[] received = new int[1];
            // @start region="messages"
            int next = (group.rank() + 1) % group.worldSize();
            int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
            Work sent = group.sendAsync(own, next, 0);
            group.recv(received, previous, 0);
            sent.await();
            // @end
            assertEquals(previous, received[0]);
        });
    }

    @Test
    void combinesBlocksOfCalls() {
        SimulatedBackend.run(RANKS, group -> {
            List<float[]> gradients = List.of(new float[] {1}, new float[] {2, 3});
            // @start region="coalesced"
            group.coalesced(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
            // @end
            // @start region="coalescedAsync"
            Work sums = group.coalescedAsync(() -> gradients.forEach(one -> group.allReduce(one, ReduceOp.SUM)));
            prepareNextBatch(); // without the gradients
            sums.await();
            // @end
            assertArrayEquals(new float[] {RANKS * RANKS}, gradients.get(0));
            assertArrayEquals(new float[] {2 * RANKS * RANKS, 3 * RANKS * RANKS}, gradients.get(1));
        });
        assertEquals(RANKS, batches.get());
    }

    @Test
    void splitsIntoPairs() {
        SimulatedBackend.run(RANKS, group -> {
            float[] gradient = {group.rank()};
            // @start region="split"
            int pair = group.rank() / 2; // not negative, so every rank gets a group
            try (ProcessGroup both = group.split(pair, group.rank()).orElseThrow()) {
                both.allReduce(gradient, ReduceOp.SUM);
            }
            // @end
            assertEquals(group.rank() < 2 ? 0 + 1 : 2 + 3, gradient[0]);
        });
    }

    @Test
    void namesTheRemainingRanks() {
        SimulatedBackend.run(RANKS, group -> {
            // @start region="lost"
            List<Integer> left = IntStream.range(0, group.worldSize())
                    .filter(rank -> !group.lost().contains(rank))
                    .boxed()
                    .toList();
            // @end
            assertEquals(List.of(0, 1, 2, 3), left);
        });
    }

    @Test
    void readsTheCountersOfItsCalls() {
        SimulatedBackend.run(RANKS, group -> {
            float[] gradient = {group.rank(), 2};
            // @start region="counters"
            CallCounters before = group.counters();
            group.allReduce(gradient, ReduceOp.SUM);
            CallCounters.Totals sums = group.counters().minus(before).of(CollectiveKind.ALL_REDUCE);
            System.out.println(sums.calls() + " all-reduces, " + sums.bytes() + " bytes, " + sums.time());
            // @end
            assertEquals(1, sums.calls());
            assertEquals(2 * Float.BYTES, sums.bytes());
        });
    }

    @Test
    void combinesMemoryOfADevice() {
        HeapDeviceMemory heap = new HeapDeviceMemory(1);
        try (SystemContext context = SystemContext.of(Map.of("FERRO_ENABLE_GPU_FALLBACK", "1"))) {
            context.shared(DeviceMemory.class, heap::opened);
            try (ProcessGroup group = Groups.of(SimulatedBackend.createGroup(1).get(0), context)) {
                DeviceTensor theirs = heap.allocate(DataType.FLOAT32, new long[] {5}, 0);
                long elements = theirs.elementCount();
                long address = theirs.address();
                int device = theirs.device();
                Object owner = theirs.owner();
                // @start region="device"
                long[] shape = {elements};
                DeviceTensor gradient = new DeviceTensor(DataType.FLOAT32, shape, address, device, owner);
                group.allReduce(gradient, ReduceOp.AVG); // stays on the device
                // @end
                GpuCollectives.free(theirs);
                assertEquals(1, GpuCollectives.with(context).fallbackCount("allReduce"));
            } finally {
                context.release(DeviceMemory.class);
            }
        }
        assertEquals(0, heap.liveTensors());
    }
}

package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.harness.OnThread;
import ferro.spi.RankContext;
import ferro.tck.HeapDeviceMemory;
import ferro.tck.HeapDeviceMemory.Direction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Calls keep their order, on device tensors and on host tensors; proven by what goes on while a copy stands still. */
class CallOrderTest {
    private static final float[] TEN = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    private static Work start(DeviceGroup group, int rank) {
        return group.group(rank).allReduceAsync(group.tensor(rank, TEN), ReduceOp.SUM);
    }

    @Test
    void aCallUsesTheDeviceResultOfTheCallBefore() {
        try (DeviceGroup group = DeviceGroup.cut(2, 8)) {
            group.runAll(rank -> {
                DeviceTensor data = group.tensor(rank, rank + 2, 5);
                Work product = group.group(rank).allReduceAsync(data, ReduceOp.PRODUCT);
                group.group(rank).allReduceAsync(data, ReduceOp.SUM).await();
                assertTrue(product.isDone(), "the second call has ended before the first");
                assertArrayEquals(new float[] {12, 50}, group.floats(rank, data));
            });
        }
    }

    @Test
    void anInterruptedBlockBehindDeviceCallsFailsTheGroup() {
        try (DeviceGroup group = DeviceGroup.cut(2, 8)) {
            group.heap(0).stallCopy(Direction.TO_HOST, 2);
            List<Work> works = group.run(rank -> start(group, rank));
            long[] data = {4};
            Thread.currentThread().interrupt();
            FerroException told = assertThrows(
                    FerroException.class,
                    () -> group.group(0).coalescedAsync(() -> group.group(0).allReduce(data, ReduceOp.SUM)));

            assertTrue(Thread.interrupted(), "the flag is kept");
            assertEquals(FerroException.Code.INTERRUPTED, told.code(), told.getMessage());
            group.heap(0).endStalledCopies();
            for (Work each : works) {
                FerroException why = assertThrows(FerroException.class, each::await);
                assertNotEquals(FerroException.Code.MISMATCH, why.code(), why.getMessage());
            }
            assertArrayEquals(new long[] {4}, data);
        }
    }

    @Test
    void aHostCallRunsAfterEarlierDeviceCalls() {
        try (DeviceGroup group = DeviceGroup.cut(2, 8)) {
            // one rank's copies stand still until it has made its second call, the other rank is never held up
            group.heap(0).stallCopy(Direction.TO_HOST, 2);
            group.runAll(rank -> {
                ProcessGroup door = group.group(rank).within(Duration.ofSeconds(20));
                DeviceTensor data = group.tensor(rank, TEN);
                Work first = door.allReduceAsync(data, ReduceOp.SUM);
                long[] onHost = {rank + 4};
                Work second = door.allReduceAsync(HostTensor.of(onHost), ReduceOp.SUM);
                if (rank == 0) {
                    assertFalse(second.isDone(), "a call has passed the one before it");
                    group.heap(0).endStalledCopies();
                }
                long[] third = {rank + 6};
                door.allReduce(third, ReduceOp.PRODUCT);
                // ranks whose calls pass each other would end in MISMATCH; the first is done when its copy to the
                // device is
                first.await();
                second.await();
                assertEquals(9, onHost[0], "sum");
                assertEquals(42, third[0], "product");
                assertArrayEquals(
                        new float[] {2, 4, 6, 8, 10, 12, 14, 16, 18, 20}, group.floats(rank, data), "first call");
            });
        }
    }

    @Test
    void blocksJoinAlikeWithAndWithoutDeviceCallsInFlight() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.heap(0).stallCopy(Direction.TO_DEVICE, 1);
            group.runAll(rank -> {
                RankContext context = group.context(rank);
                CollectiveBackend host = group.host(rank);
                try (ProcessGroup joined = Groups.of(new RoundTripBackend(host, context), context)) {
                    ProcessGroup door = joined.within(Duration.ofSeconds(20));
                    Work first = door.allReduceAsync(group.tensor(rank, 1, 2), ReduceOp.SUM);
                    if (rank == 1) {
                        first.await();
                        assertFalse(
                                RoundTripState.isBusy(host, context, Duration.ofSeconds(20)), "the first call goes on");
                    }
                    float[] one = {rank + 3};
                    float[] two = {rank + 5};
                    Thread caller = Thread.currentThread();
                    door.coalesced(() -> {
                        door.allReduce(one, ReduceOp.SUM);
                        door.allReduce(two, ReduceOp.SUM);
                        OnThread.start(() -> endStalledCopiesOnceItWaits(group.heap(rank), caller));
                    });
                    first.await();
                    assertArrayEquals(new float[] {7, 11}, new float[] {one[0], two[0]}, "sums");
                }
            });
        }
    }

    private static Thread endStalledCopiesOnceItWaits(HeapDeviceMemory heap, Thread caller) {
        while (caller.getState() == Thread.State.RUNNABLE) {
            Thread.yield();
        }
        heap.endStalledCopies();
        return caller;
    }

    @Test
    void groupsOfOneRankDoNotWaitForEachOther() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            CountDownLatch done = new CountDownLatch(2);
            group.runAll(rank -> {
                ProcessGroup other = group.group(rank).newGroup(0, 1);
                Work late = rank == 0 ? other.allReduceAsync(group.tensor(rank, 1), ReduceOp.SUM) : null;
                DeviceTensor data = group.tensor(rank, 4);
                group.group(rank).allReduce(data, ReduceOp.PRODUCT);
                assertArrayEquals(new float[] {16}, group.floats(rank, data));
                done.countDown();
                assertTrue(done.await(20, TimeUnit.SECONDS), "the other rank waits");
                if (late == null) {
                    other.allReduce(group.tensor(rank, 1), ReduceOp.SUM);
                } else {
                    late.await();
                }
                other.close();
            });
        }
    }

    @Test
    void closeWaitsForQueuedDeviceCalls() {
        try (DeviceGroup group = DeviceGroup.cut(2, 8)) {
            group.runAll(rank -> {
                DeviceTensor data = group.tensor(rank, TEN);
                Work[] works = new Work[5];
                for (int call = 0; call < works.length; call++) {
                    works[call] = group.group(rank).allReduceAsync(data, ReduceOp.SUM);
                }
                group.group(rank).close();
                for (Work work : works) {
                    work.await();
                }
                assertEquals(320f, group.floats(rank, data)[9], "five sums of two ranks");
            });
        }
    }

    @Test
    void aDependentStageMayBlockAndCallTheGroup() {
        try (DeviceGroup group = DeviceGroup.of(2)) {
            group.runAll(rank -> {
                DeviceTensor data = group.tensor(rank, 3);
                group.group(rank)
                        .allReduceAsync(data, ReduceOp.SUM)
                        .completion()
                        .thenRun(() -> group.group(rank).allReduce(data, ReduceOp.PRODUCT))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS);
                assertArrayEquals(new float[] {36}, group.floats(rank, data));
            });
        }
    }
}

package ferro.backend.nccl.memory;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.comm.JnaNcclBackend;
import ferro.backend.nccl.comm.NcclRanks;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.dispatch.GpuCollectives;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Pooled memory that changes hands while something still uses it. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class TensorLeasesTest {
    /** As many bytes as the smallest stage has. */
    private static final int STAGE_FLOATS = (1 << 16) / Float.BYTES;

    private static DeviceTensor fresh(JnaNcclBackend rank) {
        return rank.allocate(DataType.FLOAT32, STAGE_FLOATS);
    }

    private static Collective sum(DeviceTensor tensor) {
        return Collective.allReduce(tensor, ReduceOp.SUM);
    }

    /** Closes a tensor and returns where the next one of its size lies. */
    private static long reused(JnaNcclBackend rank, DeviceTensor closed) {
        GpuCollectives.free(closed);
        DeviceTensor next = fresh(rank);
        GpuCollectives.free(next);
        return next.address();
    }

    @Test
    @DisplayName("T7 3-29: host slices wait for what the default stream still does with the memory they are staged in")
    void hostSlicesWaitForTheDefaultStream() {
        try (NcclRanks ranks = NcclRanks.of(1);
                DeviceFloats nines = DeviceFloats.filled(0, STAGE_FLOATS, 9)) {
            DeviceTensor before = fresh(ranks.rank(0));
            StandInHooks.standInStreamLatency(0, 20_000);
            for (int turn = 0; turn < 3; turn++) {
                DeviceFloats.queue(before, nines.tensor().address(), Cuda.DEVICE_TO_DEVICE, Cuda.DEFAULT_STREAM);
            }
            StandInHooks.standInStreamLatency(0, 0);
            GpuCollectives.free(before);
            // between upload and reduction there is room for what comes too late
            StandInHooks.standInNcclLatency(200_000);
            float[] data = {1, 2, 3, 4};
            ranks.rank(0).run(Collective.allReduce(HostTensor.of(data), ReduceOp.SUM), SOON);
            assertArrayEquals(new float[] {1, 2, 3, 4}, data);
        }
    }

    @Test
    @DisplayName(
            "0-17 2-13: a tensor that is closed while its collective is under way is handed out again only after it")
    void aTensorInFlightIsNotReused() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            JnaNcclBackend first = ranks.rank(0);
            JnaNcclBackend second = ranks.rank(1);
            DeviceTensor pending = fresh(first);
            DeviceTensor other = fresh(second);
            Work work = first.submit(sum(pending), SOON);
            assertNotEquals(pending.address(), reused(first, pending));
            second.run(sum(other), SOON);
            work.await();
            GpuCollectives.free(other);
            DeviceTensor next = fresh(first);
            DeviceTensor afterNext = fresh(first);
            assertTrue(next.address() == pending.address() || afterNext.address() == pending.address());
            GpuCollectives.free(next);
            GpuCollectives.free(afterNext);
            assertThrows(IllegalStateException.class, () -> first.submit(sum(other), SOON));
        }
    }

    @Test
    @DisplayName("2-13: a call that is refused uses no memory")
    void aRefusedCallUsesNoMemory() {
        try (NcclRanks ranks = NcclRanks.of(1)) {
            JnaNcclBackend alone = ranks.rank(0);
            DeviceTensor tensor = fresh(alone);
            assertThrows(IllegalStateException.class, () -> alone.grouped(() -> alone.submit(sum(tensor), SOON)));
            assertEquals(tensor.address(), reused(alone, tensor));
        }
    }

    @Test
    @DisplayName("2-13 2-32: a tensor of a collective that timed out is handed out again once the abort is over")
    void aTensorOfATimedOutCallComesBack() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            JnaNcclBackend first = ranks.rank(0);
            DeviceTensor tensor = fresh(first);
            assertThrows(FerroException.class, () -> first.run(sum(tensor), Duration.ofMillis(100)));
            assertEquals(tensor.address(), reused(first, tensor));
        }
    }
}

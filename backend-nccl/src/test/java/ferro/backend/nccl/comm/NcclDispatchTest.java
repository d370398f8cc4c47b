package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.ReduceOp;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.dispatch.GpuCollectives;
import ferro.group.SystemContext;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The dispatch of device tensors, all the way to the native calls. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclDispatchTest {
    private static final float TOLERANCE = 1e-6f;
    private static final int SLOW_MICROS = 30_000;

    private static GpuCollectives door() {
        // the gate is open, and must not matter
        return GpuCollectives.with(SystemContext.of(Map.of("ferro.gpu.fallback", "1")));
    }

    private static float[] read(DeviceTensor tensor) {
        try (DeviceFloats copy = DeviceFloats.filled(tensor.device(), (int) tensor.elementCount(), -1)) {
            return DeviceFloats.read(tensor, copy);
        }
    }

    @Test
    @DisplayName("gpu_allreduce_dispatches_to_nccl_in_single_rank_mode: over the stand-in, 0-03 0-18 0-19")
    void allReduceOfASingleRankGoesToNccl() {
        try (NcclRanks ranks = NcclRanks.of(1);
                DeviceFloats in = DeviceFloats.of(0, 1.5f, -2.5f, 3.5f, 0);
                GpuCollectives door = door()) {
            NativeLog.start();
            DeviceTensor out = door.allReduce(in.tensor(), ReduceOp.SUM, ranks.rank(0));
            assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclAllReduce"));
            assertArrayEquals(new float[] {1.5f, -2.5f, 3.5f, 0}, read(out));
            assertArrayEquals(new long[] {4}, out.shape());
            assertNotEquals(in.tensor().address(), out.address());
            GpuCollectives.free(out);
        }
    }

    @Test
    @DisplayName("gpu_broadcast_dispatches_to_nccl_in_single_rank_mode: over the stand-in")
    void broadcastOfASingleRankGoesToNccl() {
        try (NcclRanks ranks = NcclRanks.of(1);
                DeviceFloats in = DeviceFloats.of(0, 42, 99, -7.5f);
                GpuCollectives door = door()) {
            assertEquals(0, ranks.rank(0).rank());
            assertEquals(1, ranks.rank(0).worldSize());
            NativeLog.start();
            DeviceTensor out = door.broadcast(in.tensor(), 0, ranks.rank(0));
            assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclBroadcast"));
            assertArrayEquals(new float[] {42, 99, -7.5f}, read(out), TOLERANCE);
            assertArrayEquals(new long[] {3}, out.shape());
            GpuCollectives.free(out);
        }
    }

    @Test
    @DisplayName("test_gpu_allreduce_sum_2_ranks: over the stand-in, the input stays")
    void allReduceOfTwoRanksSums() {
        try (NcclRanks ranks = NcclRanks.of(2);
                GpuCollectives door = door()) {
            ranks.run(rank -> {
                float[] given = rank.rank() == 0 ? new float[] {1, 2, 3} : new float[] {4, 5, 6};
                try (DeviceFloats in = DeviceFloats.of(rank.device(), given)) {
                    DeviceTensor out = door.allReduce(in.tensor(), ReduceOp.SUM, rank);
                    assertArrayEquals(new float[] {5, 7, 9}, read(out), TOLERANCE);
                    assertArrayEquals(given, in.read());
                    GpuCollectives.free(out);
                }
            });
        }
    }

    @Test
    @DisplayName(
            "0-18: when a call returns its stream is done: the memory has the result, whoever reads it and by which stream")
    void aCallReturnsWhenItsStreamIsDone() {
        try (NcclRanks ranks = NcclRanks.of(2);
                GpuCollectives door = door()) {
            ranks.run(rank -> {
                try (DeviceFloats in = DeviceFloats.of(rank.device(), 3 + rank.rank(), 5)) {
                    StandInHooks.standInStreamLatency(rank.device(), SLOW_MICROS);
                    DeviceTensor out = door.allReduce(in.tensor(), ReduceOp.SUM, rank);
                    // what is put on a stream from now on is not slow: this copy overtakes what is still under way
                    StandInHooks.standInStreamLatency(rank.device(), 0);
                    assertArrayEquals(new float[] {7, 10}, read(out));
                    GpuCollectives.free(out);
                }
            });
        }
    }

    @Test
    @DisplayName("test_gpu_allreduce_mean_2_ranks test_gpu_broadcast_from_rank_0: over the stand-in")
    void theMeanAndTheRootsDataOfTwoRanks() {
        try (NcclRanks ranks = NcclRanks.of(2);
                GpuCollectives door = door()) {
            ranks.run(rank -> {
                float[] given = rank.rank() == 0 ? new float[] {2, 4} : new float[] {6, 8};
                try (DeviceFloats in = DeviceFloats.of(rank.device(), given)) {
                    DeviceTensor mean = door.allReduce(in.tensor(), ReduceOp.AVG, rank);
                    assertArrayEquals(new float[] {4, 6}, read(mean), TOLERANCE);
                    GpuCollectives.free(mean);
                    if (rank.rank() == 0) {
                        in.write(42, 99);
                    }
                    DeviceTensor copy = door.broadcast(in.tensor(), 0, rank);
                    assertArrayEquals(new float[] {42, 99}, read(copy), TOLERANCE);
                    GpuCollectives.free(copy);
                }
            });
        }
    }

    @Test
    @DisplayName(
            "0-24 0-28 decision 7: a native failure is final though the gate is open; a bad root comes before everything")
    void aNativeFailureIsFinal() {
        try (NcclRanks ranks = NcclRanks.of(1);
                DeviceFloats in = DeviceFloats.of(0, 5);
                GpuCollectives door = door()) {
            assertThrows(InvalidRankException.class, () -> door.broadcast(in.tensor(), 5, ranks.rank(0)));
            StandInHooks.standInFailNext("ncclAllReduce", 0, 2);
            assertFails(FerroException.Code.NATIVE, () -> door.allReduce(in.tensor(), ReduceOp.SUM, ranks.rank(0)));
            assertEquals(0, door.fallbackCount("allReduce"));
        }
    }

    @Test
    @DisplayName(
            "0-14 0-17 3-42 decision 9: what is wrong with a call is told before anything native, the type before the shape")
    void whatIsWrongIsToldBeforeAnythingNative() {
        try (NcclRanks ranks = NcclRanks.of(2);
                DeviceFloats four = DeviceFloats.of(0, 1, 2, 3, 4);
                DeviceFloats three = DeviceFloats.of(0, 1, 2, 3);
                DeviceFloats other = DeviceFloats.of(1, 5);
                GpuCollectives door = door()) {
            JnaNcclBackend rank = ranks.rank(0);
            DeviceTensor shorts = new DeviceTensor(DataType.INT16, new long[] {2}, 64, 0, null);
            NativeLog.start();

            refused(
                    UnsupportedOperationException.class,
                    door,
                    rank,
                    Collective.allReduce(shorts, four.tensor(), ReduceOp.SUM));
            refused(IllegalArgumentException.class, door, rank, Collective.allGather(three.tensor(), four.tensor()));
            DeviceTensor part = four.tensor().slice(1, 2);
            refused(IllegalArgumentException.class, door, rank, Collective.allGather(part, four.tensor()));
            refused(IllegalStateException.class, door, rank, Collective.broadcast(other.tensor(), 0));
            refused(InvalidRankException.class, door, rank, Collective.broadcast(other.tensor(), 2));
            for (int tag : new int[] {3, 0}) {
                DeviceTensor data = tag == 0 ? other.tensor() : four.tensor();
                RuntimeException why = assertThrows(
                        RuntimeException.class, () -> door.transfer(Message.send(data, 1, tag), rank, SOON));
                assertEquals(
                        tag == 0 ? IllegalStateException.class : UnsupportedOperationException.class, why.getClass());
            }

            assertEquals(List.of(), NativeLog.stop());
        }
    }

    /** Makes a call by the door and at the NCCL view itself, blocking and not: all are checked. */
    private static void refused(
            Class<? extends RuntimeException> why, GpuCollectives door, JnaNcclBackend rank, Collective call) {
        assertThrows(why, () -> door.run(call, rank, SOON), () -> "run of " + call);
        assertThrows(why, () -> door.submit(call, rank, SOON), () -> "submit of " + call);
        assertThrows(why, () -> rank.run(call, SOON), () -> "run of the view of " + call);
        assertThrows(why, () -> rank.submit(call, SOON), () -> "submit of the view of " + call);
    }
}

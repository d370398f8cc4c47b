package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.backend.nccl.Callers;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.group.SystemContext;
import ferro.spi.RankContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** One rank per thread here, one per process elsewhere. */
@ExtendWith({StandIn.class, TwoDevices.class})
@ResourceLock("nccl")
class NcclRankCommTest {
    private static final float TOLERANCE = 1e-5f;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final SystemContext noLibrary =
            SystemContext.of(Map.of("ferro.nccl.library", "/nowhere/libnccl.so.2", "ferro.timeout", "3s"));

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
    }

    private List<NcclRankComm> pair() throws Exception {
        List<NcclRankComm> pair = Worlds.pair("20s");
        opened.addAll(pair);
        return pair;
    }

    private DeviceFloats filled(int device, int count, float value) {
        DeviceFloats made = DeviceFloats.filled(device, count, value);
        opened.add(made);
        return made;
    }

    @Test
    @DisplayName(
            "1-29 T12 decision 13 test_nccl_rank_comm_rejects_invalid_rank: both numbers, before any library is looked for")
    void aRankOutsideTheWorldIsRefused() {
        InvalidRankException refused = assertRefused(
                InvalidRankException.class,
                () -> NcclRankComm.init(noLibrary, 2, 2, NcclUniqueId.zero(), 0),
                "rank 2 >= world size 2");
        assertEquals(2, refused.rank());
        assertEquals(2, refused.worldSize());
        assertThrows(InvalidRankException.class, () -> NcclRankComm.init(noLibrary, -1, 2, NcclUniqueId.zero(), 0));
    }

    @Test
    @DisplayName("1-29 test_nccl_rank_comm_rejects_world_size_one: (0, 1) fails by the world, (1, 1) by the rank")
    void aWorldOfOneIsRefused() {
        IllegalArgumentException refused = assertRefused(
                IllegalArgumentException.class,
                () -> NcclRankComm.init(noLibrary, 0, 1, NcclUniqueId.zero(), 0),
                "requires world size >= 2");
        assertFalse(refused instanceof InvalidRankException, refused.toString());
        assertRefused(
                InvalidRankException.class,
                () -> NcclRankComm.init(noLibrary, 1, 1, NcclUniqueId.zero(), 0),
                "rank 1 >= world size 1");
    }

    @Test
    @DisplayName("T12: a device that no int of CUDA can mean is refused before any native call")
    void aNegativeDeviceIsRefused() {
        assertRefused(
                IllegalArgumentException.class,
                () -> NcclRankComm.init(noLibrary, 0, 2, NcclUniqueId.zero(), -1),
                "-1");
    }

    @Test
    @DisplayName("1-22: every id that NCCL makes is another one, on whatever thread")
    void generatedIdsAreDifferent() throws Exception {
        NcclUniqueId mine = NcclUniqueId.generate(Worlds.context("3s"));
        NcclUniqueId other = CompletableFuture.supplyAsync(() -> NcclUniqueId.generate(Worlds.context("3s")))
                .get(10, TimeUnit.SECONDS);
        assertNotEquals(NcclUniqueId.zero(), mine);
        assertNotEquals(mine, other);
    }

    @Test
    @DisplayName("1-31 1-32 1-33 test_nccl_rank_comm_init_and_reduce")
    void ranksJoinAndReduce() throws Exception {
        List<NcclRankComm> pair = pair();
        List<DeviceFloats> values = List.of(filled(0, 64, 10f), filled(1, 64, 20f));
        Callers.manyAtOnce(2, rank -> {
            NcclRankComm comm = pair.get(rank);
            assertEquals(rank, comm.rank());
            assertEquals(2, comm.worldSize());
            assertEquals(rank, comm.device());
            comm.allReduce(List.of(values.get(rank).tensor()), ReduceOp.AVG);
            assertArrayEquals(Worlds.repeated(64, 15f), values.get(rank).read(), TOLERANCE);
        });
    }

    @Test
    @DisplayName("1-34 test_nccl_rank_comm_on_stream: returns at once, done when the stream has passed")
    void onAStreamOfItsOwn() throws Exception {
        List<NcclRankComm> pair = pair();
        List<DeviceFloats> values = List.of(filled(0, 32, 3f), filled(1, 32, 7f));
        StandInHooks.standInHold(1);
        Callers.manyAtOnce(2, rank -> {
            NcclRankComm comm = pair.get(rank);
            long stream = comm.stream();
            assertEquals(stream, comm.stream(), "one stream, made once");
            comm.allReduce(List.of(values.get(rank).tensor()), ReduceOp.SUM, stream);
            assertEquals(Cuda.NOT_READY, Cuda.cudaStreamQuery(stream), "it must not have waited");
            Cuda.cudaGetLastError();
        });
        StandInHooks.standInHold(0);
        Callers.manyAtOnce(2, rank -> {
            NcclRankComm comm = pair.get(rank);
            comm.synchronize(comm.stream());
            assertArrayEquals(Worlds.repeated(32, 10f), values.get(rank).read(), TOLERANCE);
        });
    }

    @Test
    @DisplayName("1-33: the form without a stream returns when the result may be read, however late it comes")
    void theDefaultFormWaits() throws Exception {
        List<NcclRankComm> pair = pair();
        List<DeviceFloats> values = List.of(filled(0, 8, 3f), filled(1, 8, 7f));
        StandInHooks.standInNcclLatency(100_000);
        Callers.manyAtOnce(2, rank -> {
            pair.get(rank).allReduce(List.of(values.get(rank).tensor()), ReduceOp.MAX);
            assertArrayEquals(Worlds.repeated(8, 7f), values.get(rank).read(), TOLERANCE);
        });
    }

    @Test
    @DisplayName("1-33 test_nccl_rank_comm_multi_tensor_batch: each tensor on its own, one group per rank")
    void manyTensorsTravelInOneGroup() throws Exception {
        List<NcclRankComm> pair = pair();
        List<List<DeviceFloats>> values =
                List.of(List.of(filled(0, 16, 1f), filled(0, 8, 100f)), List.of(filled(1, 16, 3f), filled(1, 8, 200f)));
        NativeLog.start();
        Callers.manyAtOnce(2, rank -> {
            List<DeviceTensor> tensors =
                    values.get(rank).stream().map(DeviceFloats::tensor).toList();
            pair.get(rank).allReduce(tensors, ReduceOp.AVG);
            assertArrayEquals(Worlds.repeated(16, 2f), values.get(rank).get(0).read(), TOLERANCE);
            assertArrayEquals(Worlds.repeated(8, 150f), values.get(rank).get(1).read(), TOLERANCE);
        });
        List<NativeLog.Line> lines = NativeLog.stop();
        assertEquals(2, NativeLog.count(lines, "ncclGroupStart"), "one group on each of two ranks");
        assertEquals(2, NativeLog.count(lines, "ncclGroupEnd"));
        assertEquals(4, NativeLog.count(lines, "ncclAllReduce"));
    }

    @Test
    @DisplayName("1-33: what is checked is what is used; an average that would wrap is refused before any native call")
    void theListIsReadOnceAndAnAverageOfIntegersIsRefused() throws Exception {
        List<NcclRankComm> pair = pair();
        List<DeviceFloats> values = List.of(filled(0, 8, 3f), filled(1, 8, 7f));
        List<DeviceFloats> others = List.of(filled(0, 8, 100f), filled(1, 8, 200f));
        NativeLog.start();
        for (DeviceFloats one : values) {
            DeviceTensor bytes = new DeviceTensor(
                    DataType.INT8,
                    new long[] {32},
                    one.tensor().address(),
                    one.tensor().device(),
                    null);
            NcclRankComm comm = pair.get(bytes.device());
            assertRefused(
                    UnsupportedOperationException.class,
                    () -> comm.allReduce(List.of(bytes), ReduceOp.AVG),
                    "the average of i8 would wrap");
        }
        assertEquals(List.of(), NativeLog.stop());
        Callers.manyAtOnce(2, rank -> {
            List<DeviceTensor> changing = new ChangedMeanwhile(
                    List.of(values.get(rank).tensor()), List.of(others.get(rank).tensor()));
            pair.get(rank).allReduce(changing, ReduceOp.MAX);
            assertArrayEquals(Worlds.repeated(8, 7f), values.get(rank).read(), TOLERANCE);
        });
    }

    @Test
    @DisplayName("1-33: no tensor at all is no call at all, but an aborted communicator says so")
    void anEmptyListDoesNothing() throws Exception {
        List<NcclRankComm> pair = pair();
        NativeLog.start();
        pair.get(0).allReduce(List.of(), ReduceOp.SUM);
        assertEquals(List.of(), NativeLog.stop());
        pair.get(0).abortHandle().abort();
        assertFails(Code.ABORTED, () -> pair.get(0).allReduce(List.of(), ReduceOp.SUM));
    }

    @Test
    @DisplayName(
            "1-13 T12: a tensor of another device, or a type or op that NCCL lacks, is refused before NCCL is called")
    void wrongTensorsAreRefused() throws Exception {
        NcclRankComm comm = pair().get(0);
        DeviceTensor elsewhere = filled(1, 4, 2f).tensor();
        DeviceTensor shorts = new DeviceTensor(ferro.DataType.INT16, new long[] {4}, 4096, 0, null);
        NativeLog.start();
        assertRefused(
                IllegalArgumentException.class,
                () -> comm.allReduce(List.of(elsewhere), ReduceOp.SUM),
                "tensor 0 is on device 1, expected device 0");
        assertThrows(UnsupportedOperationException.class, () -> comm.allReduce(List.of(shorts), ReduceOp.SUM));
        assertThrows(UnsupportedOperationException.class, () -> comm.allReduce(List.of(), ReduceOp.BAND));
        assertEquals(List.of(), NativeLog.stop());
    }

    @Test
    @DisplayName("1-04 test_nccl_rank_comm_send: made on one thread, used on another, closed on a third")
    void aRankMovesBetweenThreads() throws Exception {
        List<NcclRankComm> pair = pair();
        for (int round = 0; round < 3; round++) {
            List<DeviceFloats> values = List.of(filled(0, 4, 3f), filled(1, 4, 5f));
            Callers.manyAtOnce(2, rank -> {
                pair.get(rank).allReduce(List.of(values.get(rank).tensor()), ReduceOp.SUM);
                assertArrayEquals(Worlds.repeated(4, 8f), values.get(rank).read(), TOLERANCE);
            });
        }
        Callers.manyAtOnce(2, rank -> pair.get(rank).close());
        assertEquals(0, StandInHooks.standInLive("comm"));
    }

    @Test
    @DisplayName("1-28: there is one abort handle per communicator")
    void theAbortHandleIsOneObject() throws Exception {
        List<NcclRankComm> pair = pair();
        assertSame(pair.get(0).abortHandle(), pair.get(0).abortHandle());
        pair.get(1).abortHandle().abort();
        assertTrue(pair.get(1).isAborted());
        assertFalse(pair.get(0).isAborted(), "each rank has its own");
    }

    @Test
    @DisplayName("1-36: printing shows rank and world size, nothing else")
    void printingIsShort() throws Exception {
        assertEquals("NcclRankComm[rank 1 of 2]", pair().get(1).toString());
    }

    @Test
    @DisplayName("1-29 1-30: a rank whose peers never join gets TIMED_OUT, and nothing of it stays")
    void aLonelyJoinEnds() {
        RankContext context = Worlds.context("150ms");
        NcclUniqueId id = NcclUniqueId.generate(context);
        FerroException late =
                assertFails(Code.TIMED_OUT, () -> NcclRankComm.init(context, 0, 2, id, 0), "150 ms", "2 ranks");
        assertEquals(0, late.where().rank());
        assertEquals(0, StandInHooks.standInLive("all"));
    }

    @Test
    @DisplayName("1-30: an interrupted join ends with INTERRUPTED, the flag set, and nothing of it stays")
    void anInterruptedJoinEnds() throws Exception {
        RankContext context = Worlds.context("60s");
        NcclUniqueId id = NcclUniqueId.generate(context);
        CompletableFuture<Boolean> isFlagSet = new CompletableFuture<>();
        Thread joining = Callers.daemon(() -> {
            assertFails(Code.INTERRUPTED, () -> NcclRankComm.init(context, 1, 2, id, 1));
            isFlagSet.complete(Thread.currentThread().isInterrupted());
        });
        joining.interrupt();
        assertTrue(isFlagSet.get(10, TimeUnit.SECONDS), "flag lost");
        assertEquals(0, StandInHooks.standInLive("all"));
    }

    @Test
    @DisplayName("1-32: a rank that calls alone gets TIMED_OUT instead of waiting for ever")
    void aLonelyCallEnds() throws Exception {
        List<NcclRankComm> pair = Worlds.pair("200ms");
        opened.addAll(pair);
        DeviceFloats values = filled(0, 4, 3f);
        assertFails(
                Code.TIMED_OUT,
                () -> pair.get(0).allReduce(List.of(values.tensor()), ReduceOp.SUM),
                "allReduce on group \"nccl\" rank 0",
                "200 ms");
        assertFails(
                Code.ABORTED,
                () -> pair.get(0).allReduce(List.of(values.tensor()), ReduceOp.SUM),
                "timed out after 200 ms");
        assertTrue(pair.get(0).isAborted());
        assertTrue(pair.get(0).isDefunct());
    }
}

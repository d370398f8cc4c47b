package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertRefused;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.backend.nccl.Callers;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclDevice;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.group.SystemContext;
import ferro.harness.Says;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The group of several devices of one process. The lock and the gate are those of 1-37 and 1-38. */
@ExtendWith({StandIn.class, TwoDevices.class})
@ResourceLock("nccl")
class NcclCommsTest {
    private static final float TOLERANCE = 1e-5f;

    private final List<DeviceFloats> arrays = new ArrayList<>();
    private final SystemContext context = SystemContext.of(StandIn.settings());

    @AfterEach
    void free() {
        arrays.forEach(DeviceFloats::close);
    }

    private NcclComms two() {
        return NcclComms.create(context, List.of(NcclDevice.cuda(0), NcclDevice.cuda(1)));
    }

    private DeviceFloats filled(int device, int count, float value) {
        DeviceFloats made = DeviceFloats.filled(device, count, value);
        arrays.add(made);
        return made;
    }

    private List<DeviceTensor> pair(int count, float first, float second) {
        return List.of(
                filled(0, count, first).tensor(), filled(1, count, second).tensor());
    }

    private void assertBoth(int count, float value) {
        for (DeviceFloats array : arrays) {
            assertArrayEquals(Worlds.repeated(count, value), array.read(), TOLERANCE);
        }
    }

    private static void refused(Says.Call call, String... parts) {
        assertRefused(IllegalArgumentException.class, call, parts);
    }

    @Test
    @DisplayName("1-06 test_nccl_requires_two_devices: the number is looked at before the kind")
    void oneDeviceIsNotEnough() {
        refused(() -> NcclComms.create(context, List.of(NcclDevice.cuda(0))), "at least 2 devices", "got 1");
        refused(() -> NcclComms.create(context, List.of(NcclDevice.cpu())), "at least 2 devices");
    }

    @Test
    @DisplayName("1-07 test_nccl_rejects_cpu: every device must be a GPU, and the kind is looked at before doubles")
    void hostMemoryIsRefused() {
        refused(
                () -> NcclComms.create(context, List.of(NcclDevice.cpu(), NcclDevice.cpu())),
                "requires CUDA devices",
                "got CPU",
                "index 0");
    }

    @Test
    @DisplayName(
            "1-08: a device that is named twice is refused with its number and both places, before any native call")
    void noDeviceTwice() {
        NativeLog.start();
        refused(
                () -> NcclComms.create(context, List.of(NcclDevice.cuda(3), NcclDevice.cuda(1), NcclDevice.cuda(3))),
                "device 3 is named at index 0 and at index 2");
        assertEquals(List.of(), NativeLog.stop());
    }

    @Test
    @DisplayName(
            "1-01 1-03 1-10 1-20 test_nccl_init_destroy: one communicator per device, the list is a copy, close frees")
    void initAndDestroy() {
        List<NcclDevice> given = new ArrayList<>(List.of(NcclDevice.cuda(1), NcclDevice.cuda(0)));
        NcclComms comms = NcclComms.create(context, given);
        given.clear();
        assertEquals(2, comms.size());
        assertEquals(List.of(NcclDevice.cuda(1), NcclDevice.cuda(0)), comms.devices());
        assertEquals(2, StandInHooks.standInLive("comm"));
        comms.close();
        comms.close();
        assertEquals(0, StandInHooks.standInLive("comm"));
    }

    @Test
    @DisplayName("1-15 test_nccl_broadcast")
    void broadcastCopiesTheRoot() {
        try (NcclComms comms = two()) {
            comms.broadcast(pair(64, 17f, 42f), 1);
            assertBoth(64, 42f);
        }
    }

    @ParameterizedTest
    @CsvSource({"sum,128,1,2,3", "avg,64,10,20,15"})
    @DisplayName("1-11 test_nccl_all_reduce_sum test_nccl_all_reduce_avg")
    void allReduceSumsAndAverages(String op, int count, float first, float second, float result) {
        try (NcclComms comms = two()) {
            comms.allReduce(pair(count, first, second), op.equals("sum") ? ReduceOp.SUM : ReduceOp.AVG);
            assertBoth(count, result);
        }
    }

    @Test
    @DisplayName("1-14 test_nccl_all_reduce_on_streams: each on its own stream, done when the stream has passed")
    void allReduceOnStreams() {
        try (NcclComms comms = two();
                CudaStream first = CudaStream.create(0);
                CudaStream second = CudaStream.create(1)) {
            List<DeviceTensor> tensors = pair(32, 5f, 7f);
            StandInHooks.standInNcclLatency(20_000);
            NativeLog.start();
            comms.allReduce(tensors, ReduceOp.SUM, first.handle(), second.handle());
            List<NativeLog.Line> lines = NativeLog.stop();
            assertEquals(0, Cuda.cudaStreamSynchronize(first.handle()));
            assertEquals(0, Cuda.cudaStreamSynchronize(second.handle()));
            assertBoth(32, 12f);
            List<String> streams = NativeLog.of(lines, "ncclAllReduce").stream()
                    .map(line -> line.arguments().get(line.arguments().size() - 1))
                    .toList();
            assertEquals(List.of(hex(first.handle()), hex(second.handle())), streams);
            assertEquals(0, NativeLog.count(lines, "cudaEventQuery"), "an asynchronous form waits for nothing");
        }
    }

    private static String hex(long handle) {
        return "0x" + Long.toHexString(handle);
    }

    @Test
    @DisplayName("1-16: broadcast on streams")
    void broadcastOnStreams() {
        try (NcclComms comms = two();
                CudaStream first = CudaStream.create(0);
                CudaStream second = CudaStream.create(1)) {
            comms.broadcast(pair(16, 8f, 9f), 0, first.handle(), second.handle());
            assertEquals(0, Cuda.cudaStreamSynchronize(first.handle()));
            assertEquals(0, Cuda.cudaStreamSynchronize(second.handle()));
            assertBoth(16, 8f);
        }
    }

    @Test
    @DisplayName(
            "1-12 1-13 1-14: number of tensors, then type, shape and device, then number of streams; all before NCCL")
    void allReduceChecksInOrder() {
        try (NcclComms comms = two()) {
            List<DeviceTensor> good = pair(4, 3f, 5f);
            DeviceTensor first = good.get(0);
            DeviceTensor doubles = new DeviceTensor(DataType.FLOAT64, new long[] {4}, 0, 1, null);
            DeviceTensor longer = new DeviceTensor(DataType.FLOAT32, new long[] {5}, 0, 1, null);
            DeviceTensor elsewhere = new DeviceTensor(DataType.FLOAT32, new long[] {4}, 0, 2, null);
            NativeLog.start();
            refused(
                    () -> comms.allReduce(List.of(first), ReduceOp.SUM, 1L, 2L, 3L),
                    "allReduce: expected 2 tensors (one per device), got 1");
            refused(
                    () -> comms.allReduce(List.of(first, doubles), ReduceOp.SUM, 1L),
                    "tensor 1 is f64[4], tensor 0 is f32[4]");
            refused(
                    () -> comms.allReduce(List.of(first, longer), ReduceOp.SUM),
                    "tensor 1 is f32[5], tensor 0 is f32[4]");
            refused(
                    () -> comms.allReduce(List.of(first, elsewhere), ReduceOp.SUM),
                    "tensor 1 is on device 2, expected device 1");
            refused(
                    () -> comms.allReduce(good, ReduceOp.SUM, 1L),
                    "allReduce: expected 2 streams (one per device), got 1");
            assertThrows(UnsupportedOperationException.class, () -> comms.allReduce(good, ReduceOp.BXOR));
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    @Test
    @DisplayName("1-11 1-14: the average of whole numbers, which NCCL would wrap, is refused before any native call")
    void anAverageOfIntegersIsRefused() {
        try (NcclComms comms = two()) {
            List<DeviceTensor> bytes = pair(4, 3f, 5f).stream()
                    .map(floats -> new DeviceTensor(
                            DataType.INT8, new long[] {16}, floats.address(), floats.device(), floats.owner()))
                    .toList();
            NativeLog.start();
            for (Says.Call call : List.<Says.Call>of(
                    () -> comms.allReduce(bytes, ReduceOp.AVG), () -> comms.allReduce(bytes, ReduceOp.AVG, 0L, 0L))) {
                assertRefused(UnsupportedOperationException.class, call, "the average of i8 would wrap");
            }
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    @Test
    @DisplayName("1-11 1-15: what is checked is what is used, whatever becomes of the caller's list")
    void theListOfTheCallerIsReadOnce() {
        try (NcclComms comms = two()) {
            List<DeviceTensor> checked = pair(4, 3f, 5f);
            List<DeviceTensor> changing = new ChangedMeanwhile(checked, List.of(checked.get(0), checked.get(0)));
            comms.broadcast(changing, 1);
            assertBoth(4, 5f);
            comms.allReduce(changing, ReduceOp.SUM);
            assertBoth(4, 10f);
        }
    }

    @Test
    @DisplayName(
            "1-15 1-16: tensors, then root, then streams; the root's message has the number of devices in both forms")
    void broadcastChecksInOrder() {
        try (NcclComms comms = two()) {
            List<DeviceTensor> good = pair(4, 3f, 5f);
            NativeLog.start();
            refused(
                    () -> comms.broadcast(good.subList(0, 1), 9, 1L),
                    "broadcast: expected 2 tensors (one per device), got 1");
            for (int root : new int[] {-1, 2}) {
                for (boolean onStreams : new boolean[] {false, true}) {
                    InvalidRankException bad = assertRefused(
                            InvalidRankException.class,
                            () -> {
                                if (onStreams) {
                                    comms.broadcast(good, root, 1L);
                                } else {
                                    comms.broadcast(good, root);
                                }
                            },
                            "broadcast: root " + root + " out of range (have 2 devices)");
                    assertEquals(root, bad.rank());
                    assertEquals(2, bad.worldSize());
                }
            }
            refused(() -> comms.broadcast(good, 1, 1L), "broadcast: expected 2 streams (one per device), got 1");
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    @Test
    @DisplayName("1-09 1-17 T6: the caller's current device is what it was, also after a failure")
    void theCallersDeviceStays() {
        assertEquals(0, Cuda.cudaSetDevice(3));
        try (NcclComms comms = two()) {
            assertEquals(3, DeviceFloats.currentDevice());
            comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM);
            assertEquals(3, DeviceFloats.currentDevice());
            StandInHooks.standInFailNext("ncclAllReduce", 0, 4);
            assertThrows(NcclException.class, () -> comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM));
            assertEquals(3, DeviceFloats.currentDevice());
        }
        StandInHooks.standInFailNext("ncclCommInitAll", 0, 2);
        assertThrows(NcclException.class, this::two);
        assertEquals(3, DeviceFloats.currentDevice());
        assertEquals(0, Cuda.cudaSetDevice(0));
    }

    @Test
    @DisplayName("1-18: split uses the group up; rank i has device i, a thread of its own, and frees what it owns")
    void splitHandsEachCommunicatorOver() throws Exception {
        NcclComms comms = NcclComms.create(context, List.of(NcclDevice.cuda(2), NcclDevice.cuda(0)));
        NativeLog.start();
        List<NcclRankComm> ranks = comms.split();
        assertEquals(0, NativeLog.count(NativeLog.stop(), "ncclCommDestroy"));
        assertEquals(2, ranks.size());
        for (int rank = 0; rank < 2; rank++) {
            assertEquals(rank, ranks.get(rank).rank());
            assertEquals(2, ranks.get(rank).worldSize());
            assertEquals(rank == 0 ? 2 : 0, ranks.get(rank).device());
        }
        List<DeviceTensor> tensors = pair(4, 3f, 5f);
        for (Says.Call later : List.<Says.Call>of(
                () -> comms.allReduce(tensors, ReduceOp.SUM), () -> comms.broadcast(tensors, 0), comms::split)) {
            assertRefused(IllegalStateException.class, later, "is split");
        }
        comms.close();
        assertEquals(2, StandInHooks.standInLive("comm"), "the group's close is no business of its ranks");
        List<DeviceFloats> values = List.of(filled(2, 8, 3f), filled(0, 8, 5f));
        NativeLog.start();
        Callers.manyAtOnce(
                2, rank -> ranks.get(rank).allReduce(List.of(values.get(rank).tensor()), ReduceOp.PRODUCT));
        List<NativeLog.Line> calls = NativeLog.of(NativeLog.stop(), "ncclAllReduce");
        assertEquals(2, calls.size());
        assertNotEquals(calls.get(0).thread(), calls.get(1).thread());
        assertArrayEquals(Worlds.repeated(8, 15f), values.get(0).read());
        assertArrayEquals(Worlds.repeated(8, 15f), values.get(1).read());
        ranks.forEach(NcclRankComm::close);
        assertEquals(0, StandInHooks.standInLive("comm"));
    }

    @Test
    @DisplayName(
            "1-18 T13: a split that fails half-way closes every communicator, and the group is used up all the same")
    void aFailedSplitLeavesNothingBehind() throws Exception {
        NcclComms comms = two();
        StandInHooks.standInFailNext("cudaSetDevice", 1, 46);
        assertThrows(CudaException.class, comms::split);
        assertEquals(0, StandInHooks.standInLive("comm"));
        assertThrows(IllegalStateException.class, comms::split);
        comms.close();
        assertEquals(List.of(), Worlds.lingering("ferro-comms-"));
    }

    @Test
    @DisplayName("1-19: all communicators are made, and all grouped calls are issued, on one and the same thread")
    void oneThreadMakesAndDrivesThemAll() {
        NativeLog.start();
        try (NcclComms comms = two()) {
            comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM);
            comms.broadcast(pair(4, 3f, 5f), 0);
        }
        List<NativeLog.Line> calls = NativeLog.stop().stream()
                .filter(line -> line.function().startsWith("nccl"))
                .filter(line -> !line.function().equals("ncclCommGetAsyncError"))
                .toList();
        assertEquals(1, NativeLog.count(calls, "ncclCommInitAll"));
        assertEquals(
                1, calls.stream().mapToInt(NativeLog.Line::thread).distinct().count(), calls.toString());
    }

    @Test
    @DisplayName("1-33 T13: one group per call, and it ends although a call in it fails")
    void aGroupCallEndsAlthoughACallInItFails() {
        try (NcclComms comms = two()) {
            StandInHooks.standInFailNext("ncclAllReduce", 1, 4);
            NativeLog.start();
            assertThrows(NcclException.class, () -> comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM));
            List<String> failed = NativeLog.nccl(NativeLog.stop());
            assertEquals(1, failed.stream().filter("ncclGroupStart"::equals).count());
            assertEquals(1, failed.stream().filter("ncclGroupEnd"::equals).count());
            arrays.forEach(DeviceFloats::close);
            arrays.clear();
            comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM);
            assertBoth(4, 8f);
        }
    }

    @Test
    @DisplayName("1-30 T13: what NCCL refuses leaves nothing behind, and the message says which call and why")
    void aRefusedInitLeavesNothingBehind() {
        StandInHooks.standInFailNext("ncclCommInitAll", 0, 2);
        NcclException refused = assertThrows(NcclException.class, this::two);
        assertEquals(NcclResult.SYSTEM_ERROR, refused.result());
        assertSays(refused, "NCCL comm_init_rank failed", "ncclSystemError (2)");
        assertEquals(0, StandInHooks.standInLive("all"));
    }

    @Test
    @DisplayName("T15: a code that no header names becomes an exception that keeps it")
    void anUnknownCodeIsKept() {
        try (NcclComms comms = two()) {
            StandInHooks.standInFailNext("ncclAllReduce", 0, 99);
            NcclException unknown =
                    assertThrows(NcclException.class, () -> comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM));
            assertEquals(99, unknown.result().code());
            assertFalse(unknown.result().known());
            assertSays(unknown, "99");
            FerroException later = assertRefused(
                    FerroException.class,
                    () -> comms.allReduce(pair(4, 3f, 5f), ReduceOp.SUM),
                    "communicator broken by earlier error");
            assertEquals(unknown, later.getCause());
        }
    }

    @Test
    @DisplayName("1-04: threads may share the group; their calls are made one after the other")
    void callersAreServedInTurn() throws Exception {
        try (NcclComms comms = two()) {
            List<DeviceTensor> tensors = pair(4, 2f, 2f);
            Callers.manyAtOnce(8, caller -> comms.allReduce(tensors, ReduceOp.AVG));
            assertBoth(4, 2f);
            assertEquals(1, StandInHooks.standInMaxEntries());
        }
    }
}

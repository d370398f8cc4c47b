package ferro.backend.nccl.memory;

import static ferro.backend.nccl.ffi.StandInHooks.standInFailNext;
import static ferro.backend.nccl.ffi.StandInHooks.standInHold;
import static ferro.backend.nccl.ffi.StandInHooks.standInLive;
import static ferro.backend.nccl.ffi.StandInHooks.standInStreamLatency;
import static ferro.backend.nccl.memory.CopiedFloats.assertValues;
import static ferro.backend.nccl.memory.CopiedFloats.buffer;
import static ferro.backend.nccl.memory.CopiedFloats.floats;
import static ferro.backend.nccl.memory.CopiedFloats.read;
import static ferro.backend.nccl.memory.CopiedFloats.refused;
import static ferro.backend.nccl.memory.CopiedFloats.room;
import static ferro.dispatch.GpuCollectives.free;
import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.Callers;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NativeLog.Line;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.StandIn;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemoryProvider;
import ferro.dispatch.GpuCollectives;
import ferro.group.SystemContext;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(StandIn.class)
class CudaMemoryTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private DeviceMemory memory;

    @BeforeEach
    void open() {
        memory = new CudaMemoryProvider().open(SystemContext.of(StandIn.settings()));
    }

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    @DisplayName("3-19 3-09: what goes to a device comes back, on the device and through the host")
    void elementsGoToADeviceAndComeBack() {
        DeviceTensor first = floats(memory, 1, 1.5f, -2.5f, 3.5f);
        DeviceTensor second = memory.allocate(DataType.FLOAT32, new long[] {3}, 1);
        NativeLog.start();

        assertTrue(memory.onDevice(first, second).await(LONG));
        assertValues(read(memory, second), 1.5f, -2.5f, 3.5f);

        List<String> kinds = NativeLog.of(NativeLog.stop(), "cudaMemcpyAsync").stream()
                .map(line -> line.arguments().get(3))
                .toList();
        assertEquals(List.of("3", "2"), kinds);
        assertEquals(1, first.device());
        free(first);
        free(second);
    }

    @Test
    @DisplayName("3-19 3-21: an owner frees once, on any thread, and its memory is then refused")
    void anOwnerFreesItsMemoryOnce() throws Exception {
        DeviceTensor tensor = floats(memory, 0, 1, 2);
        CompletableFuture<Void> freed = new CompletableFuture<>();
        Callers.daemon(() -> {
            free(tensor);
            free(tensor);
            freed.complete(null);
        });
        freed.get(30, TimeUnit.SECONDS);

        String message = assertThrows(IllegalStateException.class, () -> memory.toHost(tensor, room(2)))
                .getMessage();

        assertTrue(
                message.matches("the owner of device tensor .*f32.* is closed, and its memory is released"), message);
        DeviceTensor again = memory.allocate(DataType.FLOAT32, new long[] {2}, 0);
        DeviceTensor other = memory.allocate(DataType.FLOAT32, new long[] {2}, 0);
        assertNotEquals(again.address(), other.address());
        free(again);
        free(other);
    }

    @Test
    @DisplayName("3-19: tensors outlive the memory that made them; their owners free them then")
    void tensorsOutliveTheMemory() {
        DeviceTensor tensor = floats(memory, 2, 1, 2);
        free(floats(memory, 2, 3, 4));

        memory.close();

        assertEquals(1, standInLive("device"));
        NativeLog.start();
        free(tensor);
        List<Line> lines = NativeLog.stop();
        assertEquals(
                List.of(2),
                NativeLog.of(lines, "cudaFree").stream().map(Line::device).toList());
        assertEquals(0, standInLive("device"));
        assertThrows(IllegalStateException.class, () -> memory.allocate(DataType.FLOAT32, new long[] {2}, 2));
        assertThrows(IllegalStateException.class, () -> memory.stage(16));
    }

    @Test
    @DisplayName("3-20 T9: a copy that would be cut short is refused with both sizes, before anything moves")
    void copiesAreExact() {
        DeviceTensor tensor = floats(memory, 0, 1, 2, 3);
        DeviceTensor longer = memory.allocate(DataType.FLOAT32, new long[] {4}, 0);
        DeviceTensor elsewhere = memory.allocate(DataType.FLOAT32, new long[] {3}, 1);
        DeviceTensor integers = memory.allocate(DataType.INT32, new long[] {3}, 0);
        NativeLog.start();

        refused(() -> memory.toHost(tensor, room(2)), "12 bytes", "8");
        refused(() -> memory.toHost(tensor, room(4)), "12 bytes", "16");
        refused(() -> memory.toDevice(room(2), tensor), "12 bytes", "8");
        refused(() -> memory.toHost(tensor, room(3).asReadOnlyBuffer()), "read-only");
        refused(() -> memory.toHost(tensor, ByteBuffer.allocate(12)), "direct");
        refused(() -> memory.onDevice(tensor, longer), "f32[3]", "f32[4]");
        refused(() -> memory.onDevice(tensor, elsewhere), "device 0", "device 1");
        refused(() -> memory.onDevice(tensor, integers), "f32[3]", "i32[3]");

        assertEquals(List.of(), NativeLog.stop());
        List.of(tensor, longer, elsewhere, integers).forEach(GpuCollectives::free);
    }

    @Test
    @DisplayName("3-20: position and limit say what is copied, and do not move")
    void aPartOfABufferIsCopied() {
        DeviceTensor tensor = floats(memory, 0, 5, 6, 7, 8);
        ByteBuffer room = buffer(-1, -1, -1, -1, -1).position(4).limit(12).order(ByteOrder.nativeOrder());

        assertTrue(memory.toHost(tensor.slice(1, 2), room).await(LONG));

        assertEquals(4, room.position());
        assertEquals(12, room.limit());
        room.clear();
        float[] found = new float[5];
        room.asFloatBuffer().get(found);
        assertValues(found, -1, 6, 7, -1, -1);
        free(tensor);
    }

    @Test
    @DisplayName("3-19: no elements need no memory")
    void emptyTensorsWork() {
        DeviceTensor empty = memory.allocate(DataType.FLOAT64, new long[] {3, 0}, 0);

        assertTrue(memory.toHost(empty, room(0)).await(Duration.ZERO));
        assertTrue(memory.toDevice(room(0), empty).await(Duration.ZERO));
        assertTrue(memory.onDevice(empty, empty).await(Duration.ZERO));
        assertEquals(0, standInLive("device"));
        free(empty);
        refused(() -> memory.allocate(DataType.FLOAT32, new long[] {1}, 4), "no device 4", "has 4");
        refused(() -> memory.allocate(DataType.FLOAT32, new long[] {1}, -1), "no device -1");
        DeviceTensor nowhere = new DeviceTensor(DataType.FLOAT32, new long[] {1}, 0, 0, null);
        refused(() -> memory.toHost(nowhere, room(1)), "address 0");
    }

    @ParameterizedTest
    @DisplayName("T7: a copy starts after what the default stream holds")
    @ValueSource(booleans = {true, false})
    void copiesComeAfterTheDefaultStream(boolean toHost) {
        DeviceTensor late = floats(memory, 0, 1, 2);
        DeviceTensor source = floats(memory, 0, 7, 8);
        DeviceTensor third = floats(memory, 0, 3, 4);
        DeviceTensor scratch = floats(memory, 0, 5, 6);
        standInStreamLatency(0, 20_000);
        for (DeviceTensor to : List.of(scratch, scratch, scratch, late)) {
            DeviceFloats.queue(to, source.address(), Cuda.DEVICE_TO_DEVICE, Cuda.DEFAULT_STREAM);
        }

        if (toHost) {
            assertValues(read(memory, late), 7, 8);
        } else {
            assertTrue(memory.onDevice(late, third).await(LONG));
            standInStreamLatency(0, 0);
            assertValues(read(memory, third), 7, 8);
        }
        List.of(late, source, third, scratch).forEach(GpuCollectives::free);
    }

    @Test
    @DisplayName("3-19: a copy is asynchronous; a wait has an end, an interrupt, and an answer")
    void waitingHasAnEnd() {
        DeviceTensor tensor = floats(memory, 0, 1, 2, 3);
        standInHold(1);

        Copy copy = memory.toHost(tensor, room(3));

        assertFalse(copy.await(Duration.ZERO));
        assertFalse(copy.await(Duration.ofMillis(5)));
        Thread.currentThread().interrupt();
        FerroException interrupted = assertFails(Code.INTERRUPTED, () -> copy.await(LONG));
        assertTrue(Thread.interrupted());
        standInHold(0);
        assertTrue(copy.await(LONG));
        assertTrue(copy.await(Duration.ZERO));
        free(tensor);
    }

    @Test
    @DisplayName("3-21: closing an owner during a copy frees nothing before the copy is done")
    void aCopyUnderWayKeepsItsMemory() {
        DeviceTensor tensor = floats(memory, 0, 4, 5, 6);
        standInStreamLatency(0, 100_000);
        ByteBuffer room = room(3);
        Copy copy = memory.toHost(tensor, room);

        free(tensor);
        DeviceTensor other = memory.allocate(DataType.FLOAT32, new long[] {3}, 0);

        assertNotEquals(tensor.address(), other.address());
        memory.close();
        assertTrue(copy.await(Duration.ZERO));
        assertEquals(5, room.getFloat(4));
        free(other);
    }

    @Test
    @DisplayName("3-17: a failed copy names its direction, its size and the runtime's code")
    void aFailedCopySaysWhatAndWhere() {
        DeviceTensor tensor = floats(memory, 3, 1, 2);
        standInFailNext("cudaMemcpyAsync", 0, 1);

        CudaException failure = assertThrows(
                CudaException.class, () -> memory.toHost(tensor, room(2)).await(LONG));

        assertEquals(Code.NATIVE, failure.code());
        assertEquals(1, failure.cudaCode());
        for (String token : List.of("D2H copy of 8 bytes on device 3 failed", "cudaMemcpyAsync D2H", "(code 1)")) {
            assertTrue(failure.getMessage().contains(token), failure.getMessage());
        }
        assertValues(read(memory, tensor), 1, 2);
        free(tensor);
    }

    @Test
    @DisplayName("0-17: memory that something else allocated is copied like our own")
    void foreignPointersWork() {
        try (DeviceFloats foreign = DeviceFloats.of(2, 1, 2, 3)) {
            DeviceTensor view = new DeviceTensor(
                    DataType.FLOAT32, new long[] {3}, foreign.tensor().address(), 2, foreign);

            assertValues(read(memory, view), 1, 2, 3);
            assertTrue(memory.toDevice(buffer(4, 5, 6), view).await(LONG));
            assertValues(read(memory, view), 4, 5, 6);
        }
    }

    @Test
    @DisplayName("1-09 T6: the caller's own current device stays, also when a call fails")
    void theCallersDeviceStays() {
        assertEquals(0, Cuda.cudaSetDevice(3));
        DeviceTensor tensor = floats(memory, 1, 1, 2);
        assertValues(read(memory, tensor), 1, 2);
        free(tensor);
        standInFailNext("cudaMalloc", 0, 1);
        assertThrows(CudaException.class, () -> memory.allocate(DataType.INT8, new long[] {1 << 16}, 1));
        memory.stage(1 << 20).close();
        memory.close();

        assertEquals(3, DeviceFloats.currentDevice());
        assertEquals(0, Cuda.cudaSetDevice(0));
    }

    @Test
    @DisplayName("T6: many callers at once each see their own elements, whatever device they use")
    void manyThreadsReadTheirOwnElements() throws Exception {
        Callers.manyAtOnce(16, caller -> {
            for (int step = 0; step < 20; step++) {
                DeviceTensor tensor = floats(memory, caller % 4, caller, step, caller + step);
                assertValues(read(memory, tensor), caller, step, caller + step);
                free(tensor);
            }
        });
    }

    @Test
    void aRankWithoutADeviceOfItsOwnStagesOnTheFirstDevice() {
        int[] devices = new int[1];
        assertEquals(0, Cuda.cudaGetDeviceCount(devices));
        Map<String, String> settings = new HashMap<>(StandIn.settings());
        settings.put("LOCAL_RANK", "" + devices[0]);

        try (DeviceMemory ofTheRank = new CudaMemoryProvider().open(SystemContext.of(settings));
                DeviceMemory.Staging staging = ofTheRank.stage(64)) {
            assertTrue(staging.pinned());
        }
    }

    @Test
    @DisplayName("0-08: device memory is a service of its own")
    void theProviderHasItsNameAndPlace() {
        DeviceMemoryProvider provider = new CudaMemoryProvider();

        assertEquals("cuda", provider.name());
        assertEquals(10, provider.priority());
        assertTrue(provider.unavailableBecause(SystemContext.of(StandIn.settings()))
                .isEmpty());
    }
}

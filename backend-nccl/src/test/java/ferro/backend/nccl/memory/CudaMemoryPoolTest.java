package ferro.backend.nccl.memory;

import static ferro.backend.nccl.ffi.StandInHooks.standInDeviceMemory;
import static ferro.backend.nccl.ffi.StandInHooks.standInFailNext;
import static ferro.backend.nccl.ffi.StandInHooks.standInLive;
import static ferro.backend.nccl.ffi.StandInHooks.standInRefusePinning;
import static ferro.backend.nccl.ffi.StandInHooks.standInStickyError;
import static ferro.backend.nccl.memory.CopiedFloats.assertValues;
import static ferro.backend.nccl.memory.CopiedFloats.floats;
import static ferro.backend.nccl.memory.CopiedFloats.read;
import static ferro.backend.nccl.memory.CopiedFloats.refused;
import static ferro.dispatch.GpuCollectives.free;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException.Code;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NativeLog.Line;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.PointerConverter;
import ferro.backend.nccl.ffi.StandIn;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Staging;
import ferro.dispatch.GpuCollectives;
import ferro.group.SystemContext;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(StandIn.class)
class CudaMemoryPoolTest {
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
    @DisplayName("T17: once warm, no call asks the runtime for memory")
    void memoryIsPooled() {
        Function<Integer, Void> round = step -> {
            DeviceTensor tensor = floats(memory, 0, 1 + step, 2 + step);
            try (Staging staging = memory.stage(8)) {
                assertTrue(memory.toHost(tensor, staging.buffer()).await(LONG));
                assertEquals(2 + step, staging.buffer().getFloat(4));
            }
            free(tensor);
            return null;
        };
        round.apply(0);
        NativeLog.start();

        for (int step = 1; step <= 20; step++) {
            round.apply(step);
        }

        List<Line> lines = NativeLog.stop();
        for (String slow :
                List.of("cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost", "cudaEventCreateWithFlags")) {
            assertEquals(0, NativeLog.count(lines, slow), slow);
        }
        assertEquals(40, NativeLog.count(lines, "cudaMemcpyAsync"));
    }

    @Test
    @DisplayName("T17: idle blocks are given up before a device is called full")
    void idleBlocksAreGivenUpWhenTheDeviceIsFull() {
        standInDeviceMemory(1 << 20);
        for (int kib = 100; kib <= 500; kib += 100) {
            free(memory.allocate(DataType.INT8, new long[] {kib << 10}, 0));
        }

        DeviceTensor large = memory.allocate(DataType.INT8, new long[] {900 << 10}, 0);
        CudaException full =
                assertThrows(CudaException.class, () -> memory.allocate(DataType.INT8, new long[] {300 << 10}, 0));

        assertEquals(Code.RESOURCE, full.code());
        assertEquals(CudaException.OUT_OF_MEMORY, full.cudaCode());
        for (String token :
                List.of("GPU alloc", "device 0", "failed", "cudaMalloc", "CUDA error (code 2)", "bytes free")) {
            assertTrue(full.getMessage().contains(token), full.getMessage());
        }
        free(large);
    }

    @Test
    @DisplayName("3-21 T13: after a fault of the device everything is given back all the same")
    void aFaultyDeviceLeavesNothingBehind() {
        DeviceTensor tensor = floats(memory, 0, 1, 2);
        Staging staging = memory.stage(8);
        standInStickyError(700);

        CudaException failure = assertThrows(
                CudaException.class,
                () -> memory.toHost(tensor, staging.buffer()).await(LONG));
        assertEquals(700, failure.cudaCode());
        assertThrows(CudaException.class, () -> memory.allocate(DataType.INT8, new long[] {1 << 20}, 1));

        standInStickyError(0);
        staging.close();
        free(tensor);
    }

    @Test
    @DisplayName("3-25 T13: a device that cannot be opened leaves nothing behind, and may be tried again")
    void aDeviceThatCannotBeOpenedLeavesNothingBehind() {
        standInFailNext("cudaMemGetInfo", 0, 999);

        assertThrows(CudaException.class, () -> memory.allocate(DataType.INT8, new long[] {8}, 0));

        assertEquals(0, standInLive("all"));
        free(memory.allocate(DataType.INT8, new long[] {8}, 0));
    }

    @Test
    @DisplayName("T17: staging memory is pinned, has exactly its size, and is used again")
    void stagingMemoryIsPinned() {
        long address;
        try (Staging staging = memory.stage(1000)) {
            assertTrue(staging.pinned());
            assertTrue(staging.buffer().isDirect());
            assertEquals(ByteOrder.nativeOrder(), staging.buffer().order());
            assertEquals(1000, staging.buffer().capacity());
            assertSame(staging.buffer(), staging.buffer());
            staging.buffer().limit(7).position(3);
            address = PointerConverter.address(staging.buffer().clear());
        }
        try (Staging staging = memory.stage(1001)) {
            assertEquals(1001, staging.buffer().limit());
            assertEquals(address, PointerConverter.address(staging.buffer()));
        }
        assertEquals(1, standInLive("pinned"));
        refused(() -> memory.stage(-1), "-1 bytes");
    }

    @Test
    @DisplayName("T17: staging memory that is lent out survives the close of its source, and is freed by its own")
    void lentStagingMemoryOutlivesItsSource() {
        Staging lent = memory.stage(8);
        memory.stage(64).close();
        assertEquals(2, standInLive("pinned"));

        memory.close();

        assertEquals(1, standInLive("pinned"), "only the idle block is freed");
        lent.buffer().putFloat(4, 7.5f);
        assertEquals(7.5f, lent.buffer().getFloat(4));
        lent.close();
        lent.close();
        assertEquals(0, standInLive("pinned"));
    }

    @Test
    @DisplayName(
            "T17: what is too much to keep is freed by the device's own thread, for which the caller does not wait")
    void surplusMemoryIsFreedByTheDeviceThread() {
        standInDeviceMemory(1 << 20);
        DeviceTensor first = memory.allocate(DataType.INT8, new long[] {100 << 10}, 0);
        DeviceTensor second = memory.allocate(DataType.INT8, new long[] {200 << 10}, 0);
        NativeLog.start();

        free(first);
        free(second);
        Cuda.cudaGetLastError();
        free(memory.allocate(DataType.INT8, new long[] {300 << 10}, 0));

        List<Line> lines = NativeLog.stop();
        int mine = NativeLog.of(lines, "cudaGetLastError").get(0).thread();
        int lanes = NativeLog.of(lines, "cudaMalloc").get(0).thread();
        List<Line> frees = NativeLog.of(lines, "cudaFree");
        assertFalse(frees.isEmpty(), "an eighth of the device may lie idle");
        assertTrue(frees.stream().allMatch(line -> line.thread() == lanes && lanes != mine), lines.toString());
    }

    @Test
    @DisplayName("T17: where pinning is refused plain memory serves, and is used again too")
    void refusedPinningIsReplaced() {
        standInRefusePinning(1);
        DeviceTensor tensor = floats(memory, 0, 3, 4);

        try (Staging staging = memory.stage(8)) {
            assertFalse(staging.pinned());
            assertTrue(memory.toHost(tensor, staging.buffer()).await(LONG));
            assertEquals(4, staging.buffer().getFloat(4));
        }
        memory.stage(8).close();

        assertEquals(0, standInLive("pinned"));
        assertEquals(1, ((CudaMemory) memory).refusedPins());
        free(tensor);
    }

    @Test
    @DisplayName("T14: copies work on the default stream where no other can be had")
    void copiesWorkOnTheDefaultStream() {
        for (int i = 0; i < 3; i++) {
            standInFailNext("cudaStreamCreateWithFlags", 0, 2);
        }
        DeviceTensor tensor = floats(memory, 0, 9, 10);

        assertValues(read(memory, tensor), 9, 10);

        assertEquals(3, ((CudaMemory) memory).downgrades());
        free(tensor);
    }

    @Test
    @DisplayName("1-03 3-21: memory whose owner nobody can reach any more is given back")
    void forgottenMemoryComesBack() throws InterruptedException {
        long address = forget();
        // each look keeps its block, so that the pool holds nothing but the forgotten one, whenever that comes back
        List<DeviceTensor> kept = new ArrayList<>();
        do {
            System.gc();
            // the report runs on a thread of its own, which sends no word
            TimeUnit.MILLISECONDS.sleep(10);
            kept.add(memory.allocate(DataType.INT8, new long[] {77_777}, 3));
        } while (kept.size() < 500 && kept.get(kept.size() - 1).address() != address);

        assertEquals(address, kept.get(kept.size() - 1).address());
        kept.forEach(GpuCollectives::free);
    }

    /** Nothing of it is on the stack of the caller. */
    private long forget() {
        DeviceTensor forgotten = memory.allocate(DataType.INT8, new long[] {77_777}, 3);
        // a second one of the class, so that the first is not merely the only one there is
        free(memory.allocate(DataType.INT8, new long[] {77_778}, 3));
        return forgotten.address();
    }
}

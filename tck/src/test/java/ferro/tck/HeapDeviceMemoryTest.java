package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import ferro.dispatch.GpuCollectives;
import ferro.tck.HeapDeviceMemory.Direction;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The kit's devices keep the contract of device memory, and tell on those who do not. */
class HeapDeviceMemoryTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final float[] GIVEN = {3, 1, 4, 1, 5};

    private final HeapDeviceMemory heap = new HeapDeviceMemory(2);

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    @Test
    void aCopyRunsOnlyWhenItIsAwaited() {
        DeviceTensor tensor = heap.upload(HostTensor.of(GIVEN), 1);
        ByteBuffer bytes = direct(20);
        Copy copy = heap.toHost(tensor, bytes);
        assertEquals(0, bytes.getFloat(0), "data is there before anybody has waited");
        assertTrue(copy.await(Duration.ZERO), "looking runs the copy");
        assertEquals(5, bytes.getFloat(16));
        assertEquals(0, bytes.position(), "position");
    }

    @Test
    void copiesOfOneDirectionRunInOrder() {
        DeviceTensor tensor = heap.allocate(DataType.FLOAT32, new long[] {1}, 0);
        List<Long> ran = new ArrayList<>();
        heap.watch(event -> {
            if (event.ended()) {
                ran.add(event.number());
            }
        });
        ByteBuffer first = direct(4).putFloat(0, 7);
        ByteBuffer second = direct(4).putFloat(0, 8);
        heap.toDevice(first, tensor);
        heap.toDevice(second, tensor).await(LIMIT);
        assertEquals(List.of(1L, 2L), ran);
        assertArrayEquals(new float[] {8}, heap.floats(tensor));
    }

    @Test
    @DisplayName("T9: sizes that are not equal to the byte are refused, nothing is cut short")
    void sizesMustBeEqual() {
        DeviceTensor tensor = heap.upload(HostTensor.of(GIVEN), 0);
        assertThrows(IllegalArgumentException.class, () -> heap.toHost(tensor, direct(19)));
        assertThrows(IllegalArgumentException.class, () -> heap.toDevice(direct(24), tensor));
        assertThrows(IllegalArgumentException.class, () -> heap.toDevice(ByteBuffer.allocate(20), tensor));
        assertThrows(IllegalArgumentException.class, () -> heap.onDevice(tensor, tensor.slice(0, 4)));
        assertEquals(0, heap.runningCopies());
    }

    @Test
    void partsOfTensorsAreCopiedWithoutTheirNeighbours() {
        DeviceTensor tensor = heap.upload(HostTensor.of(GIVEN), 0);
        heap.toDevice(direct(8).putFloat(0, 6).putFloat(4, 7), tensor.slice(1, 2))
                .await(LIMIT);
        assertArrayEquals(new float[] {3, 6, 7, 1, 5}, heap.floats(tensor));
    }

    @Test
    void freedOrForeignMemoryIsRefused() {
        DeviceTensor freed = heap.upload(HostTensor.of(GIVEN), 0);
        GpuCollectives.free(freed);
        GpuCollectives.free(freed);
        assertThrows(IllegalArgumentException.class, () -> heap.toHost(freed, direct(20)));
        DeviceTensor living = heap.upload(HostTensor.of(GIVEN), 0);
        DeviceTensor elsewhere = new DeviceTensor(DataType.FLOAT32, new long[] {5}, living.address(), 1, null);
        assertThrows(IllegalArgumentException.class, () -> heap.toHost(elsewhere, direct(20)));
        DeviceTensor longer = new DeviceTensor(DataType.FLOAT32, new long[] {6}, living.address(), 0, null);
        assertThrows(IllegalArgumentException.class, () -> heap.toHost(longer, direct(24)));
        assertThrows(IllegalArgumentException.class, () -> heap.allocate(DataType.INT8, new long[] {1}, 2));
    }

    @Test
    void unwrittenMemoryIsNotZeroAndTakesNoSpace() {
        DeviceTensor huge = heap.allocate(DataType.UINT8, new long[] {1L << 40}, 0);
        ByteBuffer bytes = direct(1);
        heap.toHost(huge.slice((1L << 40) - 1, 1), bytes).await(LIMIT);
        assertNotEquals(0, bytes.get(0));
    }

    @Test
    void plantedFaultsAppearWherePlanted() {
        DeviceTensor tensor = heap.upload(HostTensor.of(GIVEN), 0);
        heap.failCopy(Direction.TO_HOST, 2);
        heap.refuseCopy(Direction.TO_DEVICE, 1);
        assertTrue(heap.toHost(tensor, direct(20)).await(LIMIT));
        Copy failing = heap.toHost(tensor, direct(20));
        for (int time = 0; time < 2; time++) {
            FerroException failure = assertThrows(FerroException.class, () -> failing.await(LIMIT));
            assertEquals(Code.NATIVE, failure.code());
        }
        assertThrows(FerroException.class, () -> heap.toDevice(direct(20), tensor));
        heap.stallCopy(Direction.TO_HOST, 1);
        Copy stalled = heap.toHost(tensor, direct(20));
        assertFalse(stalled.await(Duration.ofMillis(20)));
        assertEquals(1, heap.runningCopies());
        heap.endStalledCopies();
        assertTrue(stalled.await(LIMIT));
        heap.capacity(40);
        FerroException full =
                assertThrows(FerroException.class, () -> heap.allocate(DataType.FLOAT32, new long[] {6}, 0));
        assertEquals(Code.RESOURCE, full.code());
    }

    @Test
    void theCopyThreadRunsCopiesThatAreNotAwaited() {
        try (HeapDeviceMemory threaded = new HeapDeviceMemory(1).copyOnThread(Duration.ofMillis(2))) {
            DeviceTensor tensor = threaded.upload(HostTensor.of(GIVEN), 0);
            ByteBuffer bytes = direct(20);
            threaded.toHost(tensor, bytes);
            RuleChecks.eventually("the copy", LIMIT, () -> threaded.runningCopies() == 0);
            assertEquals(5, bytes.getFloat(16));
        }
    }

    @Test
    void memoryThatIsNotFreedIsReported() {
        DeviceMemory opened = heap.opened();
        DeviceTensor tensor = opened.allocate(DataType.INT8, new long[] {4}, 0);
        Staging staging = opened.stage(4);
        Copy copy = opened.toHost(tensor, staging.buffer());
        assertThrows(IllegalStateException.class, staging::close, "closed under a copy");
        AssertionError thrown = assertThrows(AssertionError.class, heap::assertNothingLeft);
        assertTrue(
                thrown.getMessage().contains("1 tensors, 0 staging buffers, 1 copies that have not run"),
                thrown.getMessage());
        copy.await(LIMIT);
        GpuCollectives.free(tensor);
        opened.close();
        heap.assertNothingLeft();
    }

    @Test
    void pinningMayBeRefused() {
        assertTrue(heap.stage(8).pinned());
        heap.refusePinning();
        Staging plain = heap.stage(8);
        assertFalse(plain.pinned());
        assertTrue(plain.buffer().isDirect());
        assertEquals(ByteOrder.nativeOrder(), plain.buffer().order());
    }
}

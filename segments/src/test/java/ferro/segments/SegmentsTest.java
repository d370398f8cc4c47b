package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which segments become tensors, and how the others are refused. */
class SegmentsTest {
    @TempDir
    private Path folder;

    @Test
    void aTensorUsesTheMemoryOfItsSegment() {
        MemorySegment segment = Arena.ofAuto().allocate(40, 8);
        HostTensor tensor = Segments.tensor(DataType.FLOAT32, segment.asSlice(8));
        assertEquals(8, tensor.elementCount());
        tensor.setFloat(3, 2.5f);
        assertEquals(2.5f, segment.get(ValueLayout.JAVA_FLOAT, 20));
        segment.set(ValueLayout.JAVA_FLOAT, 36, -7);
        assertEquals(-7, tensor.getFloat(7));
        assertEquals(0, Segments.tensor(DataType.FLOAT64, segment.asSlice(0, 0)).elementCount());
    }

    @Test
    void aNativeSegmentMayHaveAnyAlignment() {
        MemorySegment segment = Arena.ofAuto().allocate(33, 8).asSlice(1);
        HostTensor tensor = Segments.tensor(DataType.INT64, segment);
        tensor.setLong(2, 0x1234_5678_9abcL);
        assertEquals(0x1234_5678_9abcL, segment.get(ValueLayout.JAVA_LONG_UNALIGNED, 16));
    }

    @Test
    void aHeapSegmentBecomesAViewOfItsArray() {
        float[] array = {3, 5, 7, 9};
        HostTensor tensor =
                Segments.tensor(DataType.FLOAT32, MemorySegment.ofArray(array).asSlice(4, 8));
        assertSame(array, tensor.memory());
        assertEquals(1, tensor.offset());
        assertEquals(2, tensor.elementCount());
        assertEquals(7, tensor.getFloat(1));
        HostTensor unsigned = Segments.tensor(DataType.UINT16, MemorySegment.ofArray(new short[] {2, 4}));
        assertEquals(4, unsigned.getShort(1));
    }

    @Test
    void aHeapSegmentOfAnotherKindIsRefused() {
        refused(
                "heap segment of 16 bytes is in a byte[], which cannot hold f32: need a float[] or a native segment",
                DataType.FLOAT32,
                MemorySegment.ofArray(new byte[16]));
        refused(
                "heap segment of 4 bytes begins at byte 2 of a float[], inside an element: need a multiple of 4",
                DataType.FLOAT32,
                MemorySegment.ofArray(new float[3]).asSlice(2, 4));
        refused(
                "read-only heap segment of 12 bytes: the JDK does not give the array of a read-only heap segment: use the"
                        + " writable segment, or a native one",
                DataType.FLOAT32,
                MemorySegment.ofArray(new float[3]).asReadOnly());
    }

    @Test
    void aSegmentThatEndsInsideAnElementIsRefused() {
        refused(
                "native segment of 30 bytes ends inside an element: need a multiple of the 8 bytes of f64",
                DataType.FLOAT64,
                Arena.ofAuto().allocate(30));
        refused(
                "heap segment of 6 bytes ends inside an element: need a multiple of the 4 bytes of f32",
                DataType.FLOAT32,
                MemorySegment.ofArray(new float[2]).asSlice(0, 6));
    }

    @Test
    void aConfinedArenaIsRefusedOnAnyThread() throws Exception {
        try (Arena arena = Arena.ofConfined();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            MemorySegment segment = arena.allocate(16);
            String expected =
                    "native segment of 16 bytes belongs to a confined arena, and several threads of ferro access"
                            + " its memory: use Arena.ofShared(), Arena.ofAuto() or Arena.global()";
            refused(expected, DataType.FLOAT32, segment);
            ExecutionException elsewhere = assertThrows(
                    ExecutionException.class,
                    () -> other.submit(() -> Segments.tensor(DataType.FLOAT32, segment))
                            .get());
            assertEquals(expected, elsewhere.getCause().getMessage());
        }
    }

    @Test
    void aClosedArenaIsRefusedByTensorAndEveryCall() {
        Arena arena = Arena.ofShared();
        MemorySegment segment = arena.allocate(16);
        HostTensor tensor = Segments.tensor(DataType.FLOAT32, segment);
        arena.close();
        assertEquals(
                "the arena of native segment of 16 bytes is closed: need a segment of an open arena",
                assertThrows(IllegalStateException.class, () -> Segments.tensor(DataType.FLOAT32, segment))
                        .getMessage());
        Collective late = Collective.allReduce(tensor, ReduceOp.SUM);
        assertEquals(
                "allReduce: the memory of input f32[4] was freed (native segment of 16 bytes): free memory, or close its"
                        + " arena, only after the calls on its tensors have ended",
                assertThrows(IllegalStateException.class, () -> late.check(0, 2))
                        .getMessage());
        assertThrows(IllegalStateException.class, () -> tensor.getFloat(0));
    }

    @Test
    void aReadOnlySegmentIsAcceptedOnlyAsInput() throws IOException {
        Path file = Files.write(folder.resolve("weights"), new byte[64]);
        try (FileChannel channel = FileChannel.open(file)) {
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 64, Arena.ofAuto());
            HostTensor tensor = Segments.tensor(DataType.INT32, mapped);
            Collective.broadcast(tensor, 0).check(0, 2);
            assertEquals(
                    "broadcast: output i32[16] is read-only (read-only mapped segment of 64 bytes): need memory that can be"
                            + " written",
                    assertThrows(
                                    IllegalArgumentException.class,
                                    () -> Collective.broadcast(tensor, 0).check(1, 2))
                            .getMessage());
        }
    }

    @Test
    void overlappingTensorsOfOneSegmentAreRefused() {
        MemorySegment segment = Arena.ofAuto().allocate(64, 8);
        HostTensor in = Segments.tensor(DataType.FLOAT32, segment.asSlice(0, 32));
        HostTensor out = Segments.tensor(DataType.FLOAT32, segment.asSlice(4, 32));
        String refusal = assertThrows(
                        IllegalArgumentException.class,
                        () -> Collective.allReduce(in, out, ReduceOp.SUM).check(0, 2))
                .getMessage();
        assertTrue(refusal.contains("output begins 4 bytes behind the start of input"), refusal);
        HostTensor buffer = HostTensor.of(
                DataType.FLOAT32, segment.asSlice(8, 32).asByteBuffer().order(ByteOrder.nativeOrder()));
        assertThrows(
                IllegalArgumentException.class,
                () -> Collective.allReduce(in, buffer, ReduceOp.SUM).check(0, 2));
        Collective.allReduce(in, Segments.tensor(DataType.FLOAT32, segment.asSlice(0, 32)), ReduceOp.SUM)
                .check(0, 2);
        float[] array = new float[9];
        HostTensor heap =
                Segments.tensor(DataType.FLOAT32, MemorySegment.ofArray(array).asSlice(4));
        HostTensor view = HostTensor.of(DataType.FLOAT32, array, 0, 8);
        assertThrows(
                IllegalArgumentException.class,
                () -> Collective.allReduce(heap, view, ReduceOp.SUM).check(0, 2));
    }

    private static void refused(String expected, DataType type, MemorySegment segment) {
        assertEquals(
                expected,
                assertThrows(IllegalArgumentException.class, () -> Segments.tensor(type, segment))
                        .getMessage());
    }
}

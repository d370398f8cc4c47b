package ferro;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory whose owner may free it, seen through several buffers. */
class ForeignMemoryTest {
    private static final int RUN = ForeignBytes.BUFFER_BYTES / 2;
    private static final int BYTES = 5 * RUN + 800;

    private final ForeignBytes memory = ForeignBytes.of(BYTES);

    @Test
    void everyElementAndTheRunAfterIsInOneBuffer() {
        HostTensor tensor = HostTensor.of(DataType.INT64, memory);
        assertEquals(BYTES / 8, tensor.elementCount());
        assertTrue(TensorMemory.hasParts(tensor));
        for (long first = 0; first <= tensor.elementCount(); first += RUN / 32) {
            ByteBuffer buffer = (ByteBuffer) TensorMemory.memoryAt(tensor, first);
            long run = TensorMemory.runAt(tensor, first);
            assertTrue(run >= Math.min(RUN / 8, tensor.elementCount() - first), run + " elements at " + first);
            assertTrue(TensorMemory.offsetAt(tensor, first) + 8 * run <= buffer.capacity());
            if (run > 0) {
                buffer.putLong((int) TensorMemory.offsetAt(tensor, first), first + 3);
                assertEquals(first + 3, tensor.getLong(first));
                assertEquals(
                        first + 3, memory.bytes.order(ByteOrder.nativeOrder()).getLong((int) (8 * first)));
            }
        }
    }

    @Test
    void copiesCrossTheEndsOfBuffers() {
        HostTensor tensor = HostTensor.of(DataType.INT32, memory);
        int[] given = numbers(BYTES / 4 - 7);
        tensor.copyFrom(5, given, 0, given.length);
        int[] taken = new int[given.length];
        tensor.copyTo(5, taken, 0, taken.length);
        assertArrayEquals(given, taken);
        assertEquals(given[RUN / 4], tensor.getInt(RUN / 4 + 5));

        HostTensor other = HostTensor.of(DataType.INT32, ForeignBytes.of(BYTES));
        other.copyFrom(1, tensor, 5, given.length);
        HostTensor array = HostTensor.of(new int[given.length]);
        array.copyFrom(0, other, 1, given.length);
        assertArrayEquals(given, (int[]) array.memory());
        other.copyFrom(0, array, 1, given.length - 1);
        assertEquals(given[1], other.getInt(0));
        assertThrows(
                IndexOutOfBoundsException.class, () -> tensor.copyTo(0, taken, 1, taken.length), "beyond the array");
    }

    @Test
    void copiesWithinOneMemoryAreRightInBothDirections() {
        for (int distance : new int[] {3, -3, RUN / 4, -RUN / 4}) {
            HostTensor tensor = HostTensor.of(DataType.INT32, memory);
            int[] expected = numbers(BYTES / 4);
            tensor.copyFrom(0, expected, 0, expected.length);
            int count = expected.length - Math.abs(distance);
            int from = Math.max(0, -distance);
            int to = Math.max(0, distance);
            System.arraycopy(expected, from, expected, to, count);

            HostTensor source = distance % 2 == 0 ? tensor : HostTensor.of(DataType.INT32, memory);
            tensor.copyFrom(to, source, from, count);

            int[] found = new int[expected.length];
            tensor.copyTo(0, found, 0, found.length);
            assertArrayEquals(expected, found, "distance " + distance);
        }
    }

    @Test
    void onlyARangeWithinOneBufferIsReturnedAsMemory() {
        HostTensor tensor = HostTensor.of(DataType.FLOAT32, memory);
        String refusal =
                assertThrows(IllegalStateException.class, tensor::memory).getMessage();
        assertEquals(
                tensor + " has " + BYTES
                        + " bytes in more than one buffer: use TensorMemory.memoryAt, or the accessors, which work"
                        + " for all memory",
                refusal);
        assertEquals(
                refusal,
                assertThrows(IllegalStateException.class, tensor::buffer).getMessage());
        HostTensor part = tensor.slice(RUN / 2 + 1, 100);
        part.setFloat(2, 2.5f);
        assertEquals(2.5f, ((ByteBuffer) part.memory()).getFloat((int) part.offset() + 8));
        assertEquals(2.5f, part.buffer().getFloat(8));
        assertEquals(2.5f, tensor.getFloat(RUN / 2 + 3));
        assertEquals(4 * (RUN / 2 + 1), TensorMemory.memoryOffset(part));
        assertTrue(TensorMemory.isForeign(part) && part.isDirect() && !TensorMemory.hasParts(part));
    }

    @Test
    void overlapsAreFoundInOneViewAndInSeveral() {
        HostTensor tensor = HostTensor.of(DataType.INT8, memory);
        HostTensor again = HostTensor.of(DataType.INT8, memory);
        HostTensor buffer = HostTensor.of(DataType.INT8, memory.bytes.slice().order(ByteOrder.nativeOrder()));
        int half = BYTES / 2;
        for (HostTensor other : List.of(tensor, again, buffer)) {
            Collective shifted = Collective.allReduce(tensor.slice(0, half), other.slice(RUN, half), ReduceOp.SUM);
            String refusal = assertThrows(IllegalArgumentException.class, () -> shifted.check(0, 2))
                    .getMessage();
            assertTrue(refusal.contains("output begins " + RUN + " bytes behind the start of input"), refusal);
            Collective identical = Collective.allReduce(tensor.slice(RUN, half), other.slice(RUN, half), ReduceOp.SUM);
            assertDoesNotThrow(() -> identical.check(0, 2));
            Collective apart = Collective.allReduce(tensor.slice(0, half), other.slice(half, half), ReduceOp.SUM);
            assertDoesNotThrow(() -> apart.check(0, 2));
        }
        Collective own = Collective.allGather(again.slice(half, half), tensor);
        assertDoesNotThrow(() -> own.check(1, 2));
        assertThrows(IllegalArgumentException.class, () -> own.check(0, 2));
    }

    @Test
    void freedMemoryIsRefusedByEveryCall() {
        HostTensor tensor = HostTensor.of(DataType.FLOAT32, memory);
        HostTensor array = HostTensor.of(new float[(int) tensor.elementCount()]);
        memory.isFreed = true;
        String expected = "allReduce: the memory of input " + tensor + " was freed (test memory): free memory, or close"
                + " its arena, only after the calls on its tensors have ended";
        assertEquals(expected, refusal(Collective.allReduce(tensor, array, ReduceOp.SUM), 0));
        assertTrue(refusal(Collective.allReduce(array, tensor, ReduceOp.SUM), 0).contains("output " + tensor));
        assertTrue(refusal(Collective.broadcast(tensor, 0), 1).startsWith("broadcast: the memory of output"));
        assertTrue(refusal(Collective.broadcast(tensor, 0), 0).startsWith("broadcast: the memory of input"));
        assertThrows(IllegalStateException.class, () -> TensorMemory.checkUsable(tensor, "send", "tensor", false));
    }

    @Test
    void readOnlyMemoryIsAcceptedOnlyAsInput() {
        memory.isReadOnly = true;
        HostTensor tensor = HostTensor.of(DataType.FLOAT32, memory);
        HostTensor array = HostTensor.of(new float[(int) tensor.elementCount()]);
        assertDoesNotThrow(
                () -> Collective.allReduce(tensor, array, ReduceOp.SUM).check(0, 2));
        assertDoesNotThrow(() -> Collective.broadcast(tensor, 0).check(0, 2));
        String expected =
                "allReduce: output " + tensor + " is read-only (test memory): need memory that can be written";
        assertEquals(
                expected,
                assertThrows(
                                IllegalArgumentException.class,
                                () -> Collective.allReduce(array, tensor, ReduceOp.SUM)
                                        .check(0, 2))
                        .getMessage());
        assertThrows(
                IllegalArgumentException.class,
                () -> Collective.broadcast(tensor, 0).check(1, 2));
    }

    @Test
    void memoryThatCannotBeViewedIsRefused() {
        assertEquals(
                "need a multiple of the 8 bytes of f64, found 12 bytes",
                assertThrows(IllegalArgumentException.class, () -> HostTensor.of(DataType.FLOAT64, ForeignBytes.of(12)))
                        .getMessage());
        for (int wrong : new int[] {0, 1 << 21, (4 << 20) + 4096, Integer.MIN_VALUE}) {
            memory.bufferBytes = wrong;
            assertThrows(IllegalArgumentException.class, () -> HostTensor.of(DataType.INT8, memory), wrong + " bytes");
        }
        memory.bufferBytes = ForeignBytes.BUFFER_BYTES;
        memory.order = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        assertThrows(IllegalArgumentException.class, () -> HostTensor.of(DataType.INT8, memory));
        ForeignBytes heap = new ForeignBytes(ByteBuffer.allocate(16));
        assertThrows(IllegalArgumentException.class, () -> HostTensor.of(DataType.INT8, heap));
        assertEquals(0, HostTensor.of(DataType.INT64, ForeignBytes.of(0)).elementCount());
    }

    private static String refusal(Collective call, int rank) {
        return assertThrows(IllegalStateException.class, () -> call.check(rank, 2))
                .getMessage();
    }

    private static int[] numbers(int count) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = 31 * i + 5;
        }
        return numbers;
    }
}

package ferro.collectives;

import static ferro.collectives.Touching.mayTouch;
import static ferro.collectives.Touching.touch;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class TouchingTest {
    private static HostTensor of(ByteBuffer buffer, int from, int bytes) {
        ByteBuffer part = buffer.duplicate().order(ByteOrder.nativeOrder());
        return HostTensor.of(DataType.INT16, part.position(from).limit(from + bytes));
    }

    @Test
    void runsOfOneArrayTouchWhereTheyOverlap() {
        HostTensor array = HostTensor.of(new double[10]);

        assertTrue(touch(array.slice(2, 3), array.slice(4, 3)));
        assertFalse(touch(array.slice(2, 3), array.slice(5, 3)));
        assertTrue(mayTouch(array.slice(4, 3), array.slice(2, 3)));
        assertFalse(mayTouch(array.slice(5, 3), array.slice(2, 3)));
        assertFalse(mayTouch(array, HostTensor.of(new double[10])));
    }

    @Test
    void runsOfOneBufferTouchWhateverTheTypesAre() {
        HostTensor longs = HostTensor.allocate(DataType.INT64, 4);
        HostTensor bytes = HostTensor.of(DataType.INT8, (ByteBuffer) longs.memory());

        assertTrue(touch(longs.slice(1, 1), bytes.slice(15, 9)));
        assertFalse(touch(longs.slice(1, 1), bytes.slice(16, 9)));
        assertTrue(touch(bytes.slice(15, 9), longs.slice(1, 1)));
        assertFalse(touch(bytes.slice(16, 9), longs.slice(1, 1)));
    }

    @Test
    void otherBuffersOfTheSameMemoryTouch() {
        ByteBuffer memory = ByteBuffer.allocateDirect(64);
        for (int from = 0; from <= 40; from += 2) {
            boolean overlaps = from < 30 && 20 < from + 6;
            assertEquals(overlaps, mayTouch(of(memory, 20, 10), of(memory, from, 6)), "from " + from);
            assertEquals(overlaps, mayTouch(of(memory, from, 6), of(memory, 20, 10)), "from " + from);
            ByteBuffer slice = memory.slice(from, 6).order(ByteOrder.nativeOrder());
            assertEquals(overlaps, mayTouch(HostTensor.of(DataType.INT8, slice), of(memory, 20, 10)), "slice " + from);
        }
    }

    @Test
    void nothingTouchesNothing() {
        HostTensor some = HostTensor.allocate(DataType.INT8, 8);

        assertFalse(mayTouch(null, some));
        assertFalse(mayTouch(some, null));
        assertFalse(mayTouch(some.slice(3, 0), some.slice(2, 3)));
        assertFalse(mayTouch(some, HostTensor.allocate(DataType.INT8, 8)));
    }
}

package ferro.collectives.engine;

import static ferro.collectives.engine.TouchedMemory.alias;
import static ferro.collectives.engine.TouchedMemory.mayAlias;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class AliasingTest {
    private static HostTensor of(ByteBuffer buffer, int from, int bytes) {
        ByteBuffer part = buffer.duplicate().order(ByteOrder.nativeOrder());
        return HostTensor.of(DataType.INT16, part.position(from).limit(from + bytes));
    }

    @Test
    void runsOfOneArrayTouchWhereTheyOverlap() {
        HostTensor array = HostTensor.of(new double[10]);

        assertTrue(alias(array.slice(2, 3), array.slice(4, 3)));
        assertFalse(alias(array.slice(2, 3), array.slice(5, 3)));
        assertTrue(mayAlias(array.slice(4, 3), array.slice(2, 3)));
        assertFalse(mayAlias(array.slice(5, 3), array.slice(2, 3)));
        assertFalse(mayAlias(array, HostTensor.of(new double[10])));
    }

    @Test
    void runsOfOneBufferTouchWhateverTheTypesAre() {
        HostTensor longs = HostTensor.allocate(DataType.INT64, 4);
        HostTensor bytes = HostTensor.of(DataType.INT8, (ByteBuffer) longs.memory());

        assertTrue(alias(longs.slice(1, 1), bytes.slice(15, 9)));
        assertFalse(alias(longs.slice(1, 1), bytes.slice(16, 9)));
        assertTrue(alias(bytes.slice(15, 9), longs.slice(1, 1)));
        assertFalse(alias(bytes.slice(16, 9), longs.slice(1, 1)));
    }

    @Test
    void otherBuffersOfTheSameMemoryTouch() {
        ByteBuffer memory = ByteBuffer.allocateDirect(64);
        for (int from = 0; from <= 40; from += 2) {
            boolean overlaps = from < 30 && 20 < from + 6;
            assertEquals(overlaps, mayAlias(of(memory, 20, 10), of(memory, from, 6)), "from " + from);
            assertEquals(overlaps, mayAlias(of(memory, from, 6), of(memory, 20, 10)), "from " + from);
            ByteBuffer slice = memory.slice(from, 6).order(ByteOrder.nativeOrder());
            assertEquals(overlaps, mayAlias(HostTensor.of(DataType.INT8, slice), of(memory, 20, 10)), "slice " + from);
        }
    }

    @Test
    void nothingTouchesNothing() {
        HostTensor some = HostTensor.allocate(DataType.INT8, 8);

        assertFalse(mayAlias(null, some));
        assertFalse(mayAlias(some, null));
        assertFalse(mayAlias(some.slice(3, 0), some.slice(2, 3)));
        assertFalse(mayAlias(some, HostTensor.allocate(DataType.INT8, 8)));
    }
}

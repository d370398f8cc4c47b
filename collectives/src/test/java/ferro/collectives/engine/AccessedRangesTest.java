package ferro.collectives.engine;

import static ferro.collectives.engine.AccessedRanges.alias;
import static ferro.collectives.engine.AccessedRanges.mayAlias;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AccessedRangesTest {
    private static final int LENGTH = 120;

    private final Random random = new Random(7);
    private final List<HostTensor> memories = List.of(
            HostTensor.of(new float[LENGTH]),
            HostTensor.of(new float[LENGTH]),
            HostTensor.of(
                    DataType.FLOAT32, ByteBuffer.allocateDirect(4 * LENGTH).order(ByteOrder.nativeOrder())));

    private record Call(HostTensor in, HostTensor out) {
        boolean touches(Call other) {
            return AccessedRanges.alias(in, other.out)
                    || AccessedRanges.alias(out, other.out)
                    || AccessedRanges.alias(out, other.in);
        }
    }

    @Test
    void overlapsAreFoundAsByComparingAllPairs() {
        int refused = 0;
        int most = 0;
        for (int round = 0; round < 5000; round++) {
            AccessedRanges use = new AccessedRanges();
            List<Call> taken = new ArrayList<>();
            for (Call call = drawn(); ; call = drawn()) {
                boolean isRight = taken.stream().noneMatch(call::touches);
                assertEquals(isRight, use.add(call.in, call.out), call + " behind " + taken);
                if (!isRight) {
                    refused++;
                    break;
                }
                taken.add(call);
            }
            most = Math.max(most, taken.size());
        }
        assertEquals(5000, refused);
        assertTrue(most > 10, most + " calls beside one another at most");
    }

    @Test
    void manyCallsMayReadTheSameMemory() {
        AccessedRanges use = new AccessedRanges();
        HostTensor in = memories.get(0);
        HostTensor out = memories.get(1);
        for (int i = 0; i + 20 <= LENGTH; i += 10) {
            assertTrue(use.add(in.slice(i, 20), out.slice(i, 10)), "call " + i);
        }
        assertEquals(false, use.add(memories.get(2), in.slice(5, 1)), "writes what others read");
    }

    /** A call in place, or a call whose operand and result have the same length and do not overlap. */
    private Call drawn() {
        int length = random.nextInt(5);
        HostTensor in = part(length);
        if (random.nextInt(3) == 0) {
            return new Call(in, in);
        }
        HostTensor out = part(length);
        while (AccessedRanges.alias(in, out)) {
            out = part(length);
        }
        return new Call(in, out);
    }

    private HostTensor part(int length) {
        return memories.get(random.nextInt(memories.size())).slice(random.nextInt(LENGTH - length), length);
    }

    private static HostTensor of(ByteBuffer buffer, int from, int bytes) {
        ByteBuffer part = buffer.duplicate().order(ByteOrder.nativeOrder());
        return HostTensor.of(DataType.INT16, part.position(from).limit(from + bytes));
    }

    @Test
    void partsOfOneArrayAliasIfTheyOverlap() {
        HostTensor array = HostTensor.of(new double[10]);

        assertTrue(alias(array.slice(2, 3), array.slice(4, 3)));
        assertFalse(alias(array.slice(2, 3), array.slice(5, 3)));
        assertTrue(mayAlias(array.slice(4, 3), array.slice(2, 3)));
        assertFalse(mayAlias(array.slice(5, 3), array.slice(2, 3)));
        assertFalse(mayAlias(array, HostTensor.of(new double[10])));
    }

    @Test
    void partsOfOneBufferAliasForAnyTypes() {
        HostTensor longs = HostTensor.allocate(DataType.INT64, 4);
        HostTensor bytes = HostTensor.of(DataType.INT8, (ByteBuffer) longs.memory());

        assertTrue(alias(longs.slice(1, 1), bytes.slice(15, 9)));
        assertFalse(alias(longs.slice(1, 1), bytes.slice(16, 9)));
        assertTrue(alias(bytes.slice(15, 9), longs.slice(1, 1)));
        assertFalse(alias(bytes.slice(16, 9), longs.slice(1, 1)));
    }

    @Test
    void differentBuffersOfTheSameMemoryAlias() {
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
    void emptyTensorsAliasNothing() {
        HostTensor some = HostTensor.allocate(DataType.INT8, 8);

        assertFalse(mayAlias(null, some));
        assertFalse(mayAlias(some, null));
        assertFalse(mayAlias(some.slice(3, 0), some.slice(2, 3)));
        assertFalse(mayAlias(some, HostTensor.allocate(DataType.INT8, 8)));
    }
}

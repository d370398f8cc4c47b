package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TouchedMemoryTest {
    private static final int LENGTH = 120;

    private final Random random = new Random(7);
    private final List<HostTensor> memories = List.of(
            HostTensor.of(new float[LENGTH]),
            HostTensor.of(new float[LENGTH]),
            HostTensor.of(
                    DataType.FLOAT32, ByteBuffer.allocateDirect(4 * LENGTH).order(ByteOrder.nativeOrder())));

    private record Call(HostTensor in, HostTensor out) {
        boolean touches(Call other) {
            return TouchedMemory.alias(in, other.out)
                    || TouchedMemory.alias(out, other.out)
                    || TouchedMemory.alias(out, other.in);
        }
    }

    @Test
    void refusesWhatAComparisonOfEachWithEachRefuses() {
        int refused = 0;
        int most = 0;
        for (int round = 0; round < 5000; round++) {
            TouchedMemory use = new TouchedMemory();
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
    void manyMayReadOneMemory() {
        TouchedMemory use = new TouchedMemory();
        HostTensor in = memories.get(0);
        HostTensor out = memories.get(1);
        for (int i = 0; i + 20 <= LENGTH; i += 10) {
            assertTrue(use.add(in.slice(i, 20), out.slice(i, 10)), "call " + i);
        }
        assertEquals(false, use.add(memories.get(2), in.slice(5, 1)), "writes what others read");
    }

    /** A call in place, or one whose operand and result have nothing in common. */
    private Call drawn() {
        HostTensor in = part();
        if (random.nextInt(3) == 0) {
            return new Call(in, in);
        }
        HostTensor out = part();
        while (TouchedMemory.alias(in, out)) {
            out = part();
        }
        return new Call(in, out);
    }

    private HostTensor part() {
        HostTensor memory = memories.get(random.nextInt(memories.size()));
        int from = random.nextInt(LENGTH);
        return memory.slice(from, random.nextInt(Math.min(5, LENGTH - from)));
    }
}

package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ElementCopierTest {
    private final ElementCopier copies = new ElementCopier();

    @ParameterizedTest
    @EnumSource
    void copiesBetweenAllMemories(DataType type) {
        for (Kind into : Kind.values()) {
            for (Kind source : Kind.values()) {
                for (int length : new int[] {0, 1, 5, 6, 7, 1_001}) {
                    Run from = Memories.of(type, source, 2, length);
                    Run to = Memories.of(type, into, 7, length);
                    for (int i = 0; i <= length; i++) {
                        from.put(i, 3 * i + 1);
                        to.put(i, 77);
                    }
                    copies.copy(type, to.memory(), to.offset(), from.memory(), from.offset(), length);
                    for (int i = 0; i < length; i++) {
                        assertEquals(from.at(i), to.at(i));
                    }
                    assertEquals(77, to.at(length).intValue(), "the element behind the run");
                }
            }
        }
    }

    @Test
    void copiesOverlappingPartsOfOneMemory() {
        int[] array = {1, 2, 3, 4, 5};
        ByteBuffer bytes = ByteBuffer.allocateDirect(5).order(ByteOrder.nativeOrder());
        bytes.put(0, new byte[] {1, 2, 3, 4, 5});

        copies.copy(DataType.INT32, array, 1, array, 0, 4);
        copies.copy(DataType.INT8, bytes, 1, bytes, 0, 4);

        assertArrayEquals(new int[] {1, 1, 2, 3, 4}, array);
        byte[] moved = new byte[5];
        bytes.get(0, moved);
        assertArrayEquals(new byte[] {1, 1, 2, 3, 4}, moved);
    }

    @Test
    void copiesBitsOfHalvesUnchanged() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(10).order(ByteOrder.nativeOrder());
        copies.copy(DataType.BFLOAT16, bytes, 1, new short[] {7, -9, 11}, 1, 2);
        short[] back = new short[3];
        copies.copy(DataType.BFLOAT16, back, 1, bytes, 1, 2);

        assertArrayEquals(new short[] {0, -9, 11}, back);
    }
}

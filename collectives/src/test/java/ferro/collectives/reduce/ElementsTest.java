package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ElementsTest {
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
                    Elements.copy(type, to.memory(), to.offset(), from.memory(), from.offset(), length);
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

        Elements.copy(DataType.INT32, array, 1, array, 0, 4);
        Elements.copy(DataType.INT8, bytes, 1, bytes, 0, 4);

        assertArrayEquals(new int[] {1, 1, 2, 3, 4}, array);
        byte[] moved = new byte[5];
        bytes.get(0, moved);
        assertArrayEquals(new byte[] {1, 1, 2, 3, 4}, moved);
    }

    @Test
    void copiesBitsOfHalvesUnchanged() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(10).order(ByteOrder.nativeOrder());
        Elements.copy(DataType.BFLOAT16, bytes, 1, new short[] {7, -9, 11}, 1, 2);
        short[] back = new short[3];
        Elements.copy(DataType.BFLOAT16, back, 1, bytes, 1, 2);

        assertArrayEquals(new short[] {0, -9, 11}, back);
    }

    @Test
    void locatesElementsInTheUnitOfTheMemory() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(43).order(ByteOrder.nativeOrder());
        HostTensor direct = HostTensor.of(DataType.FLOAT32, bytes.position(3));

        assertEquals(3 + 4 * 5, Elements.at(direct, 5));
        assertEquals(2 + 5, Elements.at(HostTensor.of(new float[10]).slice(2, 8), 5));
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64"})
    void dividesFloatsExactly(DataType type) {
        for (Kind kind : Kind.values()) {
            Run run = Memories.of(type, kind, 3, 600);
            run.put(0, -7);
            run.put(599, 14);
            run.put(600, 14);

            Elements.divide(type, run.memory(), run.offset(), 600, 4);

            assertEquals(-1.75, run.at(0).doubleValue());
            assertEquals(3.5, run.at(599).doubleValue());
            assertEquals(14, run.at(600).intValue(), "the element behind the run");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "UINT8", "INT16", "INT32", "UINT32", "INT64", "UINT64"})
    void refusesToDivideIntegersWhoseSumMayHaveWrapped(DataType type) {
        Run run = Memories.of(type, Kind.ARRAY, 0, 2);

        var refused = assertThrows(
                IllegalArgumentException.class, () -> Elements.divide(type, run.memory(), run.offset(), 2, 5));

        assertTrue(refused.getMessage().startsWith("divide of " + type.label()), refused.getMessage());
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void dividesHalvesInSingleAndRoundsOnce(DataType type) {
        for (Kind kind : Kind.values()) {
            Run run = Memories.of(type, kind, 3, 3);
            run.put(0, HalfFloats.narrow(type, -7));
            run.put(1, HalfFloats.narrow(type, 1));
            run.put(2, 1);
            run.put(3, 77);

            Elements.divide(type, run.memory(), run.offset(), 3, 3);

            assertEquals(HalfFloats.narrow(type, -7 / 3f), run.at(0).shortValue());
            assertEquals(type == DataType.FLOAT16 ? 0x3555 : 0x3eab, run.at(1).shortValue(), "1/3, to nearest");
            assertEquals(0, run.at(2).shortValue(), "a third of the smallest subnormal");
            assertEquals(77, run.at(3).intValue(), "the element behind the run");
        }
    }
}

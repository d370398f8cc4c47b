package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DivisionTest {
    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64"})
    void dividesFloatsExactly(DataType type) {
        for (Kind kind : Kind.values()) {
            Run run = Memories.of(type, kind, 3, 600);
            run.put(0, -7);
            run.put(599, 14);
            run.put(600, 14);

            Division.divide(type, run.memory(), run.offset(), 600, 4);

            assertEquals(-1.75, run.at(0).doubleValue());
            assertEquals(3.5, run.at(599).doubleValue());
            assertEquals(14, run.at(600).intValue(), "the element behind the run");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"})
    void refusesToDivideIntegersWhoseSumMayHaveWrapped(DataType type) {
        Run run = Memories.of(type, Kind.ARRAY, 0, 2);

        var refused = assertThrows(
                IllegalArgumentException.class, () -> Division.divide(type, run.memory(), run.offset(), 2, 5));

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

            Division.divide(type, run.memory(), run.offset(), 3, 3);

            assertEquals(HalfFloats.narrow(type, -7 / 3f), run.at(0).shortValue());
            assertEquals(type == DataType.FLOAT16 ? 0x3555 : 0x3eab, run.at(1).shortValue(), "1/3, to nearest");
            assertEquals(0, run.at(2).shortValue(), "a third of the smallest subnormal");
            assertEquals(77, run.at(3).intValue(), "the element behind the run");
        }
    }
}

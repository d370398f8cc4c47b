package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MultipliedTest {
    private static final int[] LENGTHS = {5_003, 0, 1, 2, 255, 256, 257, 511, 512, 513, 1_025, 2_049, 3};

    @ParameterizedTest
    @EnumSource
    void copiesProductsRoundedOnceBetweenAllMemories(DataType type) {
        Multiplied multiplied = new Multiplied();
        double factor = type.isFloating() ? 1.0 / 3 : -3_000_000_019L;
        for (Kind from : Kind.values()) {
            for (Kind to : Kind.values()) {
                for (int length : LENGTHS) {
                    Run source = filled(type, from, 3, length);
                    Run into = filled(type, to, 5, length);
                    Number behind = into.at(length);

                    multiplied.copy(
                            type, factor, into.memory(), into.offset(), source.memory(), source.offset(), length);

                    Run unchanged = filled(type, from, 3, length);
                    for (int i = 0; i < length; i++) {
                        assertEquals(product(type, unchanged.at(i), factor), into.at(i), i + " of " + length);
                        assertEquals(unchanged.at(i), source.at(i), "the source, " + i + " of " + length);
                    }
                    assertEquals(behind, into.at(length), "the element behind the run");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void multipliesInPlace(DataType type) {
        Multiplied multiplied = new Multiplied();
        for (Kind kind : Kind.values()) {
            Run run = filled(type, kind, 2, 1_300);
            multiplied.copy(type, -7, run.memory(), run.offset(), run.memory(), run.offset(), 1_300);

            Run given = filled(type, kind, 2, 1_300);
            for (int i = 0; i < 1_300; i++) {
                assertEquals(product(type, given.at(i), -7), run.at(i), i + " of " + run);
            }
            assertEquals(given.at(1_300), run.at(1_300), "the element behind the run");
        }
    }

    @ParameterizedTest
    @EnumSource
    void putsProductsOfATensorIntoAnArray(DataType type) {
        Run given = filled(type, Kind.ODD_DIRECT, 1, 3);
        ByteBuffer bytes = (ByteBuffer) given.memory();
        int at = (int) given.offset();
        HostTensor tensor = HostTensor.of(type, bytes.position(at).limit(at + 3 * type.byteSize()));

        Object products = type.carrier().newArray(3);

        new Multiplied().copy(type, -3, products, 0, tensor.memory(), Elements.at(tensor, 0), 3);

        Run found = new Run(type, products, 0);
        for (int i = 0; i < 3; i++) {
            assertEquals(product(type, given.at(i), -3), found.at(i));
        }
    }

    private static Number product(DataType type, Number element, double factor) {
        long whole = (long) factor;
        return switch (type) {
            case FLOAT32 -> element.floatValue() * (float) factor;
            case FLOAT64 -> element.doubleValue() * factor;
            case FLOAT16, BFLOAT16 ->
                HalfFloats.narrow(type, HalfFloats.widen(type, element.shortValue()) * (float) factor);
            case INT64, UINT64 -> element.longValue() * whole;
            case INT32, UINT32 -> (int) (element.longValue() * whole);
            case INT16, UINT16 -> (short) (element.longValue() * whole);
            case INT8, UINT8 -> (byte) (element.longValue() * whole);
        };
    }

    private static Run filled(DataType type, Kind kind, int skip, int length) {
        Run run = Memories.of(type, kind, skip, length);
        Random random = new Random(31 * skip + length);
        for (int i = 0; i <= length; i++) {
            boolean whole = type.isFloating() && type.byteSize() > 2;
            run.put(i, whole ? random.nextGaussian() * 1e3 : random.nextLong());
        }
        return run;
    }
}

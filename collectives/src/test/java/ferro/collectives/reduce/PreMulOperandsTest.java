package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PreMulOperandsTest {
    private static final int[] LENGTHS = {5_003, 0, 1, 2, 255, 256, 257, 511, 512, 513, 1_025, 2_049, 3};

    @ParameterizedTest
    @EnumSource
    void copiesProductsRoundedOnceBetweenAllMemories(DataType type) {
        double factor = type.isFloating() ? 1.0 / 3 : -3_000_000_019L;
        Kernel copy = KernelFactory.multiplying(type, ReduceOp.preMultipliedSum(factor), PreMulOperands.COPY);
        for (Kind from : Kind.values()) {
            for (Kind to : Kind.values()) {
                for (int length : LENGTHS) {
                    Run source = Memories.random(type, from, 3, length);
                    Run into = Memories.random(type, to, 5, length);
                    Number behind = into.at(length);

                    copy.combine(into.memory(), into.offset(), source.memory(), source.offset(), length);

                    Run unchanged = Memories.random(type, from, 3, length);
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
    void multipliesATensorInPlace(DataType type) {
        Kernel copy = KernelFactory.multiplying(type, ReduceOp.preMultipliedSum(-7), PreMulOperands.COPY);
        for (Kind kind : Kind.values()) {
            Run run = Memories.random(type, kind, 2, 1_300);
            copy.combine(run.memory(), run.offset(), run.memory(), run.offset(), 1_300);

            Run given = Memories.random(type, kind, 2, 1_300);
            for (int i = 0; i < 1_300; i++) {
                assertEquals(product(type, given.at(i), -7), run.at(i), i + " of " + run);
            }
            assertEquals(given.at(1_300), run.at(1_300), "the element behind the run");
        }
    }

    @ParameterizedTest
    @EnumSource
    void copiesProductsOfATensorIntoAnArray(DataType type) {
        Run given = Memories.random(type, Kind.ODD_DIRECT, 1, 3);
        ByteBuffer bytes = (ByteBuffer) given.memory();
        int at = (int) given.offset();
        HostTensor tensor = HostTensor.of(type, bytes.position(at).limit(at + 3 * type.byteSize()));

        Object products = type.carrier().newArray(3);

        KernelFactory.multiplying(type, ReduceOp.preMultipliedSum(-3), PreMulOperands.COPY)
                .combine(products, 0, tensor.memory(), tensor.offset(), 3);

        Run found = new Run(type, products, 0);
        for (int i = 0; i < 3; i++) {
            assertEquals(product(type, given.at(i), -3), found.at(i));
        }
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void sumsProductsOfTheSelectedOperands(DataType type) {
        ReduceOp op = ReduceOp.preMultipliedSum(type.isFloating() ? 1.0 / 3 : 11);
        Kernel copy = KernelFactory.multiplying(type, op, PreMulOperands.COPY);
        Kernel sum = KernelFactory.of(type, op, 3);
        for (PreMulOperands which :
                new PreMulOperands[] {PreMulOperands.FIRST, PreMulOperands.SECOND, PreMulOperands.BOTH}) {
            Kernel kernel = KernelFactory.multiplying(type, op, which);
            for (Kind first : Kind.values()) {
                for (Kind second : Kind.values()) {
                    for (int length : LENGTHS) {
                        Run expected = product(copy, Memories.random(type, first, 3, length), which.first(), length);
                        Run other = product(copy, Memories.random(type, second, 5, length), which.second(), length);
                        sum.combine(expected.memory(), expected.offset(), other.memory(), other.offset(), length);

                        Run into = Memories.random(type, first, 3, length);
                        Run source = Memories.random(type, second, 5, length);
                        kernel.combine(into.memory(), into.offset(), source.memory(), source.offset(), length);
                        Memories.assertSame(Memories.random(type, second, 5, length), source, length, "the source");
                        Memories.assertSame(expected, into, length, which + " of " + length);

                        Run one = Memories.random(type, first, 3, length);
                        kernel.combineBoth(one.memory(), one.offset(), source.memory(), source.offset(), length);
                        Memories.assertSame(expected, one, length, which + " of both of " + length);
                        assertEquals(
                                Memories.random(type, second, 5, length).at(length),
                                source.at(length),
                                "behind the run");
                        for (int i = 0; i < length; i++) {
                            assertEquals(expected.at(i), source.at(i), which + " into both, " + i + " of " + length);
                        }
                    }
                }
            }
        }
    }

    private static Run product(Kernel copy, Run run, boolean multiplied, int length) {
        if (multiplied) {
            copy.combine(run.memory(), run.offset(), run.memory(), run.offset(), length);
        }
        return run;
    }

    private static Number product(DataType type, Number element, double factor) {
        long integer = (long) factor;
        return switch (type) {
            case FLOAT32 -> element.floatValue() * (float) factor;
            case FLOAT64 -> element.doubleValue() * factor;
            case FLOAT16, BFLOAT16 ->
                HalfFloats.narrow(type, HalfFloats.widen(type, element.shortValue()) * (float) factor);
            case INT64, UINT64 -> element.longValue() * integer;
            case INT32, UINT32 -> (int) (element.longValue() * integer);
            case INT16, UINT16 -> (short) (element.longValue() * integer);
            case INT8, UINT8 -> (byte) (element.longValue() * integer);
        };
    }
}

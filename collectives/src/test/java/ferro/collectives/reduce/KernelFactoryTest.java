package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelFactoryTest {
    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);

    private static final List<ReduceOp> BITWISE = List.of(ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR);

    @ParameterizedTest(name = "{1} of {0}")
    @MethodSource("cells")
    void combinesAsAPlainLoopDoesInEveryMemoryAndLength(DataType type, ReduceOp op) {
        Kernel kernel = KernelFactory.of(type, op, 2);
        for (Kind into : Kind.values()) {
            for (Kind source : Kind.values()) {
                for (int length : new int[] {10_007, 0, 1, 255, 511, 512, 513, 2_049, 1}) {
                    assertCombines(kernel, op, filled(type, into, 3, length), filled(type, source, 4, length), length);
                    assertCombines(kernel, op, filled(type, into, 5, length), filled(type, source, 5, length), length);
                }
            }
        }
    }

    @ParameterizedTest(name = "{1} of {0}")
    @MethodSource("cells")
    void writesTheSameBitsIntoBothMemories(DataType type, ReduceOp op) {
        Kernel kernel = KernelFactory.of(type, op, 2);
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                for (int length : new int[] {5_207, 0, 1, 513, 1}) {
                    assertCombinesBoth(
                            kernel, op, filled(type, first, 3, length), filled(type, second, 4, length), length);
                }
            }
        }
    }

    @Test
    void combinesWithinOneArray() {
        float[] array = (float[]) filled(DataType.FLOAT32, Kind.ARRAY, 0, 2_000).memory();
        float expected = array[700] + array[1_700];

        KernelFactory.of(DataType.FLOAT32, ReduceOp.SUM, 2).combine(array, 0, array, 1_000, 1_000);

        assertEquals(expected, array[700]);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 512, 3_000})
    void makesEveryNaNOfFloatsCanonical(int length) {
        float[] into = new float[length];
        float[] source = new float[length];
        into[length / 2] = Float.intBitsToFloat(0xffc1_2345);
        source[length - 1] = Float.intBitsToFloat(0x7fc0_0777);
        source[0] += Float.NEGATIVE_INFINITY;
        for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX)) {
            float[] result = into.clone();
            float[] both = source.clone();
            float[] other = into.clone();
            KernelFactory.of(DataType.FLOAT32, op, 2).combine(result, 0, source, 0, length);
            KernelFactory.of(DataType.FLOAT32, op, 2).combineBoth(both, 0, other, 0, length);
            assertEquals(0x7fc0_0000, Float.floatToRawIntBits(result[length / 2]), op.name());
            assertEquals(0x7fc0_0000, Float.floatToRawIntBits(result[length - 1]), op.name());
            for (float[] written : List.of(both, other)) {
                assertEquals(0x7fc0_0000, Float.floatToRawIntBits(written[length / 2]), op.name());
                assertEquals(0x7fc0_0000, Float.floatToRawIntBits(written[length - 1]), op.name());
            }
        }
    }

    @Test
    void makesInfinityMinusInfinityCanonicalOnlyInThatElement() {
        Kernel kernel = KernelFactory.of(DataType.FLOAT64, ReduceOp.SUM, 2);
        double[] into = {Double.POSITIVE_INFINITY, 2};

        kernel.combine(into, 0, new double[] {Double.NEGATIVE_INFINITY, 3}, 0, 2);
        assertEquals(Double.doubleToRawLongBits(Double.NaN), Double.doubleToRawLongBits(into[0]));
        assertEquals(5, into[1]);

        double[] odd = {Double.longBitsToDouble(0x7ff8_0000_0000_0001L), 1};
        kernel.combine(odd, 1, new double[] {4}, 0, 1);
        assertEquals(0x7ff8_0000_0000_0001L, Double.doubleToRawLongBits(odd[0]), "outside of the run");
    }

    @Test
    void hasNoKernelForAnAverageOfIntegersAndNamesIntegerSums() {
        String reason =
                KernelFactory.unsupportedBecause(DataType.INT32, ReduceOp.AVG).orElseThrow();

        assertTrue(reason.contains("avg of i32") && reason.contains("IntegerSums"), reason);
        assertThrows(UnsupportedOperationException.class, () -> KernelFactory.of(DataType.INT32, ReduceOp.AVG, 2));
    }

    @Test
    void refusesBitwiseOpsOfFloatsAndFractionsOfIntegers() {
        for (DataType type : List.of(DataType.FLOAT16, DataType.BFLOAT16, DataType.FLOAT32, DataType.FLOAT64)) {
            for (ReduceOp op : BITWISE) {
                String reason = KernelFactory.unsupportedBecause(type, op).orElseThrow();
                assertTrue(reason.contains(op.name() + " of " + type.label()), reason);
            }
            assertEquals(Optional.empty(), KernelFactory.unsupportedBecause(type, ReduceOp.preMultipliedSum(0.3)));
        }
        for (double factor : new double[] {0.5, 0x1p53, Double.NaN, Double.NEGATIVE_INFINITY}) {
            ReduceOp op = ReduceOp.preMultipliedSum(factor);
            String reason = KernelFactory.unsupportedBecause(DataType.INT32, op).orElseThrow();
            assertTrue(reason.contains(op.name() + " of i32") && reason.contains("integer factor"), reason);
        }
        assertEquals(Optional.empty(), KernelFactory.unsupportedBecause(DataType.UINT8, ReduceOp.preMultipliedSum(-3)));
    }

    @ParameterizedTest
    @EnumSource
    void combinesByAUsersCodeInEveryMemory(DataType type) {
        Kernel kernel = KernelFactory.of(type, ReduceOp.of("copy", KernelFactoryTest::takeReceived), 2);
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                Run into = filled(type, first, 3, 77);
                Run source = filled(type, second, 4, 77);
                Number behind = into.at(77);
                kernel.combine(into.memory(), into.offset(), source.memory(), source.offset(), 77);
                for (int i = 0; i < 77; i++) {
                    assertEquals(source.at(i), into.at(i));
                }
                assertEquals(behind, into.at(77), "the element behind the run");

                Run one = filled(type, first, 5, 77);
                Run other = filled(type, second, 6, 77);
                Number expected = other.at(7);
                kernel.combineBoth(one.memory(), one.offset(), other.memory(), other.offset(), 77);
                assertEquals(List.of(expected, expected), List.of(one.at(7), other.at(7)));
            }
        }
    }

    private static void takeReceived(HostTensor into, HostTensor received) {
        assertEquals(77, into.elementCount());
        new ElementCopier().copy(into, 0, received, 0, received.elementCount());
    }

    @Test
    void sumsMultipliedOperandsByThePlainSumKernel() {
        Kernel kernel =
                KernelFactory.plain(DataType.FLOAT32, ReduceOp.preMultipliedSum(0.5), 2, PreMulOperands.NEITHER);

        assertSame(FloatKernel.Sum.class, kernel.getClass());
    }

    @DisplayName("decision 9: the host combines every type")
    @ParameterizedTest
    @EnumSource
    void combinesEveryType(DataType type) {
        for (ReduceOp op : OPS) {
            assertEquals(Optional.empty(), KernelFactory.unsupportedBecause(type, op));
        }
        assertEquals(
                type.label().contains("f"),
                KernelFactory.unsupportedBecause(type, ReduceOp.AVG).isEmpty(),
                "floats have a kernel for averages, integers have none: " + type.label());
    }

    @Test
    void ordersUnsignedElementsWithTheSignBit() {
        byte[] bytes = {(byte) 200, 100};
        int[] ints = {0x8000_0000, 7};
        long[] longs = {-1, 0x7fff_ffff_ffff_ffffL};

        KernelFactory.of(DataType.UINT8, ReduceOp.MAX, 2).combine(bytes, 0, new byte[] {100, (byte) 255}, 0, 2);
        KernelFactory.of(DataType.UINT32, ReduceOp.MIN, 2).combine(ints, 0, new int[] {0x7fff_ffff, -1}, 0, 2);
        KernelFactory.of(DataType.UINT64, ReduceOp.MAX, 2).combine(longs, 0, new long[] {1, Long.MIN_VALUE}, 0, 2);

        assertArrayEquals(new byte[] {(byte) 200, (byte) 255}, bytes);
        assertArrayEquals(new int[] {0x7fff_ffff, 7}, ints);
        assertArrayEquals(new long[] {-1, Long.MIN_VALUE}, longs);
    }

    @Test
    void combinesHalvesInF32AndRoundsOnceToEven() {
        // 1, smallest subnormal, largest, 2^-14 (least normal), minus zero; then the other operands
        short[] into = {0x3c00, 0x0001, 0x7bff, 0x0400, (short) 0x8000, 0x3c00};
        short[] source = {0x1000, 0x0001, 0x5000, (short) 0x8001, (short) 0x8000, 0x1400};

        KernelFactory.of(DataType.FLOAT16, ReduceOp.SUM, 2).combine(into, 0, source, 0, into.length);

        // 1 + 2^-11 is a tie with an even 1; 65504 + 32 is above the last tie: infinity; 2^-14 - 2^-24 is subnormal
        assertArrayEquals(new short[] {0x3c00, 0x0002, 0x7c00, 0x03ff, (short) 0x8000, 0x3c01}, into);

        short[] brain = {0x3f80, 0x7f7f, (short) 0xff80, 0x0001, (short) 0xffc1};
        KernelFactory.of(DataType.BFLOAT16, ReduceOp.SUM, 2)
                .combine(brain, 0, new short[] {0x3b80, 0x7f7f, 0x7f80, 0x0001, 0x3f80}, 0, brain.length);
        assertArrayEquals(new short[] {0x3f80, 0x7f80, 0x7fc0, 0x0002, 0x7fc0}, brain);
    }

    @Test
    void ordersZerosOfHalvesLikeMathAndMakesNaNsCanonical() {
        short[] least = {0, 0x7d01, (short) 0xfe00};
        short[] maxima = {(short) 0x8000, 0x3c00, 0x3c00};
        KernelFactory.of(DataType.FLOAT16, ReduceOp.MIN, 2)
                .combine(least, 0, new short[] {(short) 0x8000, 0x3c00, 0}, 0, 3);
        KernelFactory.of(DataType.FLOAT16, ReduceOp.MAX, 2)
                .combine(maxima, 0, new short[] {0, (short) 0xfc01, 0x4000}, 0, 3);

        assertArrayEquals(new short[] {(short) 0x8000, 0x7e00, 0x7e00}, least);
        assertArrayEquals(new short[] {0, 0x7e00, 0x4000}, maxima);
    }

    static List<Arguments> cells() {
        List<Arguments> cells = new ArrayList<>();
        for (DataType type : DataType.values()) {
            for (ReduceOp op : OPS) {
                cells.add(Arguments.of(type, op));
            }
            for (ReduceOp op : type.label().contains("f") ? List.<ReduceOp>of() : BITWISE) {
                cells.add(Arguments.of(type, op));
            }
        }
        return cells;
    }

    private static void assertCombines(Kernel kernel, ReduceOp op, Run into, Run source, int length) {
        Number[] expected = expected(op, into, source, length);
        Number behind = into.at(length);

        kernel.combine(into.memory(), into.offset(), source.memory(), source.offset(), length);

        assertHolds(into, expected, behind);
    }

    private static void assertCombinesBoth(Kernel kernel, ReduceOp op, Run first, Run second, int length) {
        Number[] expected = expected(op, first, second, length);
        Number behindFirst = first.at(length);
        Number behindSecond = second.at(length);

        kernel.combineBoth(first.memory(), first.offset(), second.memory(), second.offset(), length);

        assertHolds(first, expected, behindFirst);
        assertHolds(second, expected, behindSecond);
    }

    private static Number[] expected(ReduceOp op, Run first, Run second, int length) {
        Number[] expected = new Number[length];
        for (int i = 0; i < length; i++) {
            expected[i] = combined(first.type(), op, first.at(i), second.at(i));
        }
        return expected;
    }

    /** Compares bits, NaN as equal to NaN. */
    private static void assertHolds(Run run, Number[] expected, Number behind) {
        int length = expected.length;
        for (int i = 0; i < length; i++) {
            if (!expected[i].equals(run.at(i))) {
                assertEquals(expected[i], run.at(i), "element " + i + " of " + length + " of " + run);
            }
        }
        assertEquals(behind, run.at(length), "the element behind the run");
    }

    private static Run filled(DataType type, Kind kind, int skip, int count) {
        Run run = Memories.random(type, kind, skip, count);
        if (type == DataType.FLOAT32 || type == DataType.FLOAT64) {
            for (int i = 0; i <= count; i++) {
                run.put(i, special(i + skip, run.at(i).doubleValue()));
            }
        }
        return run;
    }

    /** Returns now and then a value that breaks careless comparisons. */
    private static double special(int index, double usual) {
        return switch (index % 97) {
            case 11 -> -0.0;
            case 12 -> 0.0;
            case 96 -> index > 5_000 ? Double.NaN : Double.POSITIVE_INFINITY;
            default -> usual;
        };
    }

    private static Number combined(DataType type, ReduceOp op, Number a, Number b) {
        return switch (type) {
            case FLOAT32 -> (float) combined(op, a.floatValue(), b.floatValue());
            case FLOAT64 -> combined(op, a.doubleValue(), b.doubleValue());
            case INT64 -> combined(op, a.longValue(), b.longValue());
            case UINT64 -> unsigned(op, a.longValue(), b.longValue());
            case UINT32 ->
                (int) unsigned(op, Integer.toUnsignedLong(a.intValue()), Integer.toUnsignedLong(b.intValue()));
            case UINT16 ->
                (short) unsigned(op, Short.toUnsignedLong(a.shortValue()), Short.toUnsignedLong(b.shortValue()));
            case UINT8 -> (byte) unsigned(op, Byte.toUnsignedLong(a.byteValue()), Byte.toUnsignedLong(b.byteValue()));
            case FLOAT16, BFLOAT16 -> halves(type, op, a.shortValue(), b.shortValue());
            case INT32 -> (int) combined(op, a.longValue(), b.longValue());
            case INT16 -> (short) combined(op, a.longValue(), b.longValue());
            case INT8 -> (byte) combined(op, a.longValue(), b.longValue());
        };
    }

    private static short halves(DataType type, ReduceOp op, short a, short b) {
        float result = (float) combined(op, HalfFloats.widen(type, a), HalfFloats.widen(type, b));
        return HalfFloats.narrow(type, Float.isNaN(result) ? Float.NaN : result);
    }

    private static long unsigned(ReduceOp op, long a, long b) {
        boolean isLess = Long.compareUnsigned(a, b) < 0;
        return switch (op.name()) {
            case "min" -> isLess ? a : b;
            case "max" -> isLess ? b : a;
            default -> combined(op, a, b);
        };
    }

    /** Exact for floats too: a double holds their sum and product before the one rounding. */
    private static double combined(ReduceOp op, double a, double b) {
        return switch (op.name()) {
            case "sum" -> a + b;
            case "product" -> a * b;
            case "min" -> Math.min(a, b);
            default -> Math.max(a, b);
        };
    }

    private static long combined(ReduceOp op, long a, long b) {
        return switch (op.name()) {
            case "sum" -> a + b;
            case "product" -> a * b;
            case "band" -> a & b;
            case "bor" -> a | b;
            case "bxor" -> a ^ b;
            case "min" -> Math.min(a, b);
            default -> Math.max(a, b);
        };
    }
}

package ferro.collectives.reduce;

import static ferro.collectives.reduce.Memories.bits;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.ReduceOp;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class VectorKernelsTest {
    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);
    private static final float[] SPECIALS = {
        0,
        -0.0f,
        1,
        -1.5f,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.MAX_VALUE,
        Float.MIN_VALUE,
        Float.MIN_NORMAL,
        -Float.MIN_VALUE,
        Float.NaN,
        Float.intBitsToFloat(0xffc1_2345),
        Float.intBitsToFloat(0x7fff_ffff),
        Float.intBitsToFloat(0x7f80_0001)
    };

    private static final int MORE_THAN_ONE_LOOP = (1 << 14) + 77;

    @Test
    void vectorKernelsExistOnEverySupportedJdk() {
        int jdk = Runtime.version().feature();
        boolean needed = jdk == 17 || jdk == 18 || jdk >= 22;
        assertEquals(needed, KernelFactory.VECTORS != null, KernelFactory.inForce());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DirectVectorAccess",
                "ElementLoops",
                "HalfLoops",
                "Float16Converter",
                "Float16Loops",
                "VectorKernel"
            })
    void vectorKernelsUseNoMethodThatOnlySomeJdksHave(String type) throws IOException {
        try (InputStream stream = KernelFactory.class.getResourceAsStream(type + ".class")) {
            String constants = new String(stream.readAllBytes(), StandardCharsets.ISO_8859_1);
            assertFalse(constants.contains("java/lang/foreign/"), "by segments: 22 and newer");
            assertFalse(constants.contains("Ljava/nio/ByteBuffer;ILjava/nio/ByteOrder;"), "by buffers: up to 18");
        }
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void vectorKernelsGiveTheBitsOfThePlainKernels(DataType type) {
        assumeTrue(KernelFactory.VECTORS != null, KernelFactory.inForce());
        for (ReduceOp op : ops(type)) {
            assertSameBitsInEveryMemoryAndLength(type, op, 3);
            if (op == ReduceOp.AVG) {
                // 4 ranks multiply, 3 divide
                assertSameBitsInEveryMemoryAndLength(type, op, 4);
            }
        }
    }

    private void assertSameBitsInEveryMemoryAndLength(DataType type, ReduceOp op, int worldSize) {
        Kernel plain = KernelFactory.plain(type, op, worldSize, PreMulOperands.NEITHER);
        Kernel vectors = KernelFactory.VECTORS.untried(type, op, worldSize, PreMulOperands.NEITHER);
        assertSameBitsInEveryMemoryAndLength(type, op, plain, vectors);
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void vectorKernelsMultiplyToTheBitsOfThePlainKernels(DataType type) {
        assumeTrue(KernelFactory.VECTORS != null, KernelFactory.inForce());
        for (double factor : type.isFloating() ? new double[] {1.0 / 3, -3e4, 0} : new double[] {-3_000_000_019L}) {
            ReduceOp op = ReduceOp.preMultipliedSum(factor);
            for (PreMulOperands which : PreMulOperands.values()) {
                Kernel plain = KernelFactory.plain(type, op, 1, which);
                Kernel vectors = KernelFactory.VECTORS.untried(type, op, 1, which);
                if (which == PreMulOperands.COPY) {
                    assertSameCopies(type, op, plain, vectors);
                } else {
                    assertSameBitsInEveryMemoryAndLength(type, op, plain, vectors);
                }
            }
        }
    }

    /** A NaN that a kernel copies may keep its payload, so the bits of NaNs are compared in sums alone. */
    private static void assertSameCopies(DataType type, ReduceOp op, Kernel plain, Kernel vectors) {
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                for (int length = 0; length <= 70; length++) {
                    Case given = new Case(type, op, first, second, length);
                    Run source = given.secondRun();
                    Run expected = given.firstRun();
                    plain.combine(expected.memory(), expected.offset(), source.memory(), source.offset(), length);
                    Run into = given.firstRun();
                    vectors.combine(into.memory(), into.offset(), source.memory(), source.offset(), length);
                    for (int i = 0; i <= length; i++) {
                        assertEquals(expected.at(i), into.at(i), given + " element " + i);
                    }
                }
            }
        }
    }

    private void assertSameBitsInEveryMemoryAndLength(DataType type, ReduceOp op, Kernel plain, Kernel vectors) {
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                for (int length = 0; length <= 70; length++) {
                    assertSameBits(plain, vectors, new Case(type, op, first, second, length));
                }
            }
        }
        assertSameBits(plain, vectors, new Case(type, op, Kind.ARRAY, Kind.DIRECT, MORE_THAN_ONE_LOOP));
    }

    /** Runs above hold an infinity or a NaN nearly everywhere. */
    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void vectorKernelsGiveTheBitsOfThePlainKernelForAllFiniteHalves(DataType type) {
        assumeTrue(KernelFactory.VECTORS != null, KernelFactory.inForce());
        int infinity = type == DataType.FLOAT16 ? 0x7c00 : 0x7f80;
        for (ReduceOp op : ops(type)) {
            // odd factors, so that every element comes once in each
            int[] factors = {1, -1, 40_503, 0x4001, 257, 3, 0x8001};
            int[] worldSizes = {3, 8, 5, 7, 4_095, 4_096, 49};
            for (int pair = 0; pair < factors.length; pair++) {
                int factor = factors[pair];
                int worldSize = worldSizes[pair];
                Kernel vectors = KernelFactory.VECTORS.untried(type, op, worldSize, PreMulOperands.NEITHER);
                short[] first = new short[1 << 16];
                short[] second = new short[1 << 16];
                for (int i = 0; i < first.length; i++) {
                    first[i] = finite(i, infinity);
                    second[i] = finite(i * factor ^ 0x8000, infinity);
                }
                short[] expected = first.clone();
                KernelFactory.plain(type, op, worldSize, PreMulOperands.NEITHER)
                        .combine(expected, 0, second, 0, first.length);

                short[] into = first.clone();
                vectors.combine(into, 0, second, 0, first.length);

                for (int i = 0; i < first.length; i++) {
                    if (expected[i] != into[i]) {
                        fail(op.name() + " of " + Integer.toHexString(first[i] & 0xffff) + " and "
                                + Integer.toHexString(second[i] & 0xffff) + ": need "
                                + Integer.toHexString(expected[i] & 0xffff) + ", found "
                                + Integer.toHexString(into[i] & 0xffff));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT16", "BFLOAT16"})
    void vectorKernelsMultiplyFiniteHalvesToTheBitsOfThePlainKernel(DataType type) {
        assumeTrue(KernelFactory.VECTORS != null, KernelFactory.inForce());
        int infinity = type == DataType.FLOAT16 ? 0x7c00 : 0x7f80;
        // some give ties of subnormals, or nearly, some only zeros, and some infinities
        double[] factors = {
            0.5, -0.5, 1.0 / 3, 0x1.000002p-1, 0x1.fffffep-2, 0x1p-10, 3 * 0x1p-12, 1e-30, 7, 32_768, -0.0
        };
        for (double factor : factors) {
            short[] elements = new short[1 << 16];
            for (int i = 0; i < elements.length; i++) {
                elements[i] = finite(i, infinity);
            }
            short[] found = new short[1 << 16];
            KernelFactory.VECTORS
                    .untried(type, ReduceOp.preMultipliedSum(factor), 1, PreMulOperands.COPY)
                    .combine(found, 0, elements, 0, elements.length);

            for (int i = 0; i < elements.length; i++) {
                short needed = HalfFloats.narrow(type, HalfFloats.widen(type, elements[i]) * (float) factor);
                if (needed != found[i]) {
                    fail(factor + " times " + Integer.toHexString(elements[i] & 0xffff) + ": need "
                            + Integer.toHexString(needed & 0xffff) + ", found "
                            + Integer.toHexString(found[i] & 0xffff));
                }
            }
        }
    }

    private static short finite(int bits, int infinity) {
        return (short) ((bits & 0x7fff) < infinity ? bits : bits & 0x83ff);
    }

    private static List<ReduceOp> ops(DataType type) {
        List<ReduceOp> ops = new ArrayList<>(OPS);
        if (!type.label().contains("f")) {
            ops.addAll(List.of(ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR));
        } else {
            ops.add(ReduceOp.AVG);
        }
        return ops;
    }

    private static void assertSameBits(Kernel plain, Kernel vectors, Case given) {
        Run source = given.secondRun();
        Run expected = given.firstRun();
        plain.combine(expected.memory(), expected.offset(), source.memory(), source.offset(), given.length());

        Run into = given.firstRun();
        vectors.combine(into.memory(), into.offset(), source.memory(), source.offset(), given.length());
        Run one = given.firstRun();
        Run other = given.secondRun();
        vectors.combineBoth(one.memory(), one.offset(), other.memory(), other.offset(), given.length());

        for (int i = 0; i < given.length(); i++) {
            long needed = bits(expected.at(i));
            if (needed != bits(into.at(i)) || needed != bits(one.at(i)) || needed != bits(other.at(i))) {
                String found = Long.toHexString(bits(into.at(i))) + " " + Long.toHexString(bits(one.at(i))) + " "
                        + Long.toHexString(bits(other.at(i)));
                fail(given + " element " + i + ": need " + Long.toHexString(needed) + ", found " + found);
            }
        }
        assertEquals(bits(source.at(given.length())), bits(other.at(given.length())), "behind the run of " + given);
        assertEquals(bits(given.firstRun().at(given.length())), bits(one.at(given.length())), "behind " + given);
    }

    /** Two runs, the same each time they are made. */
    private record Case(DataType type, ReduceOp op, Kind first, Kind second, int length) {
        Run firstRun() {
            return filled(first, length % 7, 1);
        }

        Run secondRun() {
            return filled(second, length % 5, 2);
        }

        private Run filled(Kind kind, int skip, int seed) {
            Run run = Memories.of(type, kind, skip, length);
            Random random = new Random(31L * length + seed);
            for (int i = 0; i <= length; i++) {
                run.put(i, value(random));
            }
            return run;
        }

        private Number value(Random random) {
            boolean special = random.nextInt(3) == 0;
            return switch (type) {
                case FLOAT32 ->
                    special ? SPECIALS[random.nextInt(SPECIALS.length)] : Float.intBitsToFloat(random.nextInt());
                case FLOAT64 ->
                    special
                            ? (double) SPECIALS[random.nextInt(SPECIALS.length)]
                            : Double.longBitsToDouble(random.nextLong());
                case FLOAT16, BFLOAT16 ->
                    special
                            ? HalfFloats.narrow(type, SPECIALS[random.nextInt(SPECIALS.length)])
                            : (short) random.nextInt();
                default -> special ? random.nextInt(3) - 1 : random.nextLong();
            };
        }
    }
}

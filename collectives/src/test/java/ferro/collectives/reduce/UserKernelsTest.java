package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A user's code for elements and arrays, over every memory. All of it takes twice the one operand, less the other. */
class UserKernelsTest {
    /** Below, at and above a block of every type; the last again below, when a block is full of what came before. */
    private static final int[] LENGTHS = {1, 17, 512, 513, 1_024, 2_049, 4_096, 4_097, 10_007, 3};

    @ParameterizedTest
    @EnumSource
    void combinesEveryTypeInEveryMemoryAndLength(DataType type) {
        Kernel kernel = KernelFactory.of(type, op(type), 2);
        for (Kind into : Kind.values()) {
            for (Kind source : Kind.values()) {
                for (int length : LENGTHS) {
                    Run left = filled(type, into, 3, length);
                    Run right = filled(type, source, 4, length);

                    kernel.combine(left.memory(), left.offset(), right.memory(), right.offset(), length);

                    assertHolds(left, filled(type, into, 3, length), right, length);
                    assertHolds(right, filled(type, source, 4, length), null, length);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void writesTheSameBitsIntoBothMemories(DataType type) {
        Kernel kernel = KernelFactory.of(type, op(type), 2);
        for (Kind first : Kind.values()) {
            for (Kind second : Kind.values()) {
                for (int length : LENGTHS) {
                    Run left = filled(type, first, 3, length);
                    Run right = filled(type, second, 4, length);

                    kernel.combineBoth(left.memory(), left.offset(), right.memory(), right.offset(), length);

                    Run other = filled(type, second, 4, length);
                    assertHolds(left, filled(type, first, 3, length), other, length);
                    for (int i = 0; i < length; i++) {
                        assertEquals(left.at(i), right.at(i), "element " + i + " of the second");
                    }
                    assertEquals(other.at(length), right.at(length), "the element behind the second");
                }
            }
        }
    }

    @Test
    void anOpForAnotherTypeHasNoKernel() {
        String text = assertThrows(
                        UnsupportedOperationException.class,
                        () -> KernelFactory.of(DataType.UINT32, op(DataType.INT32), 2))
                .getMessage();

        assertEquals(
                "reduction user:own accepts only i32, found elements of u32: use a tensor of i32, or a reduction for u32",
                text);
        assertEquals(
                text,
                KernelFactory.unsupportedBecause(DataType.UINT32, op(DataType.INT32))
                        .orElseThrow());
    }

    @Test
    void aLengthThatSplitsARecordIsRefused() {
        Kernel kernel = KernelFactory.of(DataType.INT8, ReduceOp.ofBytes("own", 3, (into, received) -> {}), 2);
        HostTensor into = HostTensor.of(new byte[8]);
        HostTensor source = HostTensor.of(new byte[8]);

        String text = assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> assertThrows(IllegalStateException.class, () -> kernel.combine(into, 0, source, 0, 8))
                        .getMessage());

        assertTrue(text.contains("found 2") && text.contains("multiple of 3"), text);
    }

    @Test
    void anOutOfMemoryErrorOfTheUsersCodeIsThrownUnchanged() {
        OutOfMemoryError memory = new OutOfMemoryError("Java heap space");
        Kernel kernel = KernelFactory.of(
                DataType.FLOAT32,
                ReduceOp.ofFloats("greedy", (a, b) -> {
                    throw memory;
                }),
                2);

        assertSame(
                memory,
                assertThrows(OutOfMemoryError.class, () -> kernel.combine(new float[3], 0, new float[3], 0, 3)));
    }

    private static ReduceOp op(DataType type) {
        return switch (type) {
            case FLOAT32 -> ReduceOp.ofFloats("own", (a, b) -> 2 * a - b);
            case FLOAT64 -> ReduceOp.ofDoubles("own", (a, b) -> 2 * a - b);
            case INT32 -> ReduceOp.ofInts("own", (a, b) -> 2 * a - b);
            case INT64 -> ReduceOp.ofLongs("own", (a, b) -> 2 * a - b);
            default -> ofArrays(type);
        };
    }

    private static ReduceOp ofArrays(DataType type) {
        return switch (type.carrier()) {
            case INT ->
                ReduceOp.of("own", type, int[].class, (into, received, count) -> {
                    for (int i = 0; i < count; i++) {
                        into[i] = 2 * into[i] - received[i];
                    }
                });
            case LONG ->
                ReduceOp.of("own", type, long[].class, (into, received, count) -> {
                    for (int i = 0; i < count; i++) {
                        into[i] = 2 * into[i] - received[i];
                    }
                });
            case SHORT ->
                ReduceOp.of("own", type, short[].class, (into, received, count) -> {
                    for (int i = 0; i < count; i++) {
                        into[i] = (short) (2 * into[i] - received[i]);
                    }
                });
            default ->
                ReduceOp.of("own", type, byte[].class, (into, received, count) -> {
                    for (int i = 0; i < count; i++) {
                        into[i] = (byte) (2 * into[i] - received[i]);
                    }
                });
        };
    }

    private static Run filled(DataType type, Kind kind, int skip, int count) {
        Run run = Memories.of(type, kind, skip, count);
        for (int i = 0; i <= count; i++) {
            run.put(i, 31 * skip + 7 * (i % 1_000) + 1);
        }
        return run;
    }

    /** Twice one less the other, or one where there is no other; and nothing behind. */
    private static void assertHolds(Run found, Run one, Run other, int length) {
        Run expected = Memories.of(found.type(), Kind.ARRAY, 0, 1);
        for (int i = 0; i < length; i++) {
            boolean floats = found.type() == DataType.FLOAT32 || found.type() == DataType.FLOAT64;
            if (other == null) {
                expected.put(0, one.at(i));
            } else if (floats) {
                expected.put(0, 2 * one.at(i).doubleValue() - other.at(i).doubleValue());
            } else {
                expected.put(0, 2 * one.at(i).longValue() - other.at(i).longValue());
            }
            if (!expected.at(0).equals(found.at(i))) {
                assertEquals(expected.at(0), found.at(i), "element " + i + " of " + length + " of " + found);
            }
        }
        assertEquals(one.at(length), found.at(length), "the element behind the run");
    }
}

package ferro;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp.Combiner;
import ferro.ReduceOp.FloatCombine;
import ferro.ReduceOp.SpanCombine;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReduceOpTest {
    private static final FloatCombine KEEP = (into, received) -> into;
    private static final SpanCombine<short[]> TAKE = (into, received, count) -> into[0] = received[0];

    /** Code for the elements of one type each. */
    private static final List<ReduceOp> BY_ELEMENT = List.of(
            ReduceOp.ofFloats("own", (a, b) -> a * b + 1),
            ReduceOp.ofDoubles("own", (a, b) -> a * b + 1),
            ReduceOp.ofInts("own", (a, b) -> a * b + 1),
            ReduceOp.ofLongs("own", (a, b) -> a * b + 1));

    @Test
    void theTypesOfALambdaDetermineTheElementType() {
        List<DataType> types = List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.INT32, DataType.INT64);
        for (int i = 0; i < 4; i++) {
            for (DataType type : DataType.values()) {
                assertEquals(
                        type == types.get(i),
                        BY_ELEMENT.get(i).unsupportedBecause(type).isEmpty(),
                        type.label());
            }
        }
    }

    @Test
    void aRecordOpHasItsRecordSizeInNameAndOperands() {
        RecordCombine code = (into, received) -> into.put(0, (byte) (into.get(0) + 2 * received.get(0)));
        ReduceOp op = ReduceOp.ofBytes("own", 3, code);
        assertEquals("user:own of 3 bytes", op.name());
        assertEquals(3, op.recordElements());
        assertEquals(code, op.recordCombine());
        assertEquals(op, ReduceOp.ofBytes("own", 3, code));
        assertNotEquals(op, ReduceOp.ofBytes("own", 6, code));
        assertEquals(Optional.empty(), op.unsupportedBecause(DataType.UINT8));
        assertTrue(op.unsupportedBecause(DataType.INT16).orElseThrow().contains("i16"));
        assertEquals(1, ReduceOp.SUM.recordElements());
        assertNull(ReduceOp.SUM.recordCombine());
        assertThrows(IllegalArgumentException.class, () -> ReduceOp.ofBytes("own", 0, code));
        assertThrows(IllegalArgumentException.class, () -> ReduceOp.ofBytes("own", 65_537, code));
    }

    @Test
    void aRecordIsNeverSplitBetweenTwoOperands() {
        byte[] sums = new byte[3 * 5_000];
        byte[] others = new byte[sums.length];
        for (int at = 0; at < sums.length; at++) {
            sums[at] = (byte) at;
            others[at] = (byte) (at % 3);
        }
        ReduceOp last = ReduceOp.ofBytes("last", 3, (into, received) -> {
            for (int at = 0; at < into.limit(); at += 3) {
                into.put(at + 2, (byte) (into.get(at) + received.get(at + 2)));
            }
        });
        last.combiner().combine(HostTensor.of(sums), HostTensor.of(others));
        for (int at = 0; at < sums.length; at++) {
            assertEquals((byte) (at % 3 == 2 ? at - 2 + 2 : at), sums[at], "byte " + at);
        }
    }

    @Test
    void codeForTensorsAcceptsEveryType() {
        ReduceOp any = ReduceOp.of("any", (into, received) -> {});
        for (DataType type : DataType.values()) {
            assertEquals(Optional.empty(), any.unsupportedBecause(type));
            assertEquals(Optional.empty(), ReduceOp.SUM.unsupportedBecause(type));
        }
        assertNull(any.span());
        assertNull(ReduceOp.MAX.span());
        assertNull(ReduceOp.MAX.combiner());
    }

    @Test
    void codeForArraysAcceptsTensorsInAnyMemory() {
        int length = 5_003;
        HostTensor into = HostTensor.allocate(DataType.INT64, length);
        HostTensor received = HostTensor.of(new long[length]);
        for (int i = 0; i < length; i++) {
            into.setLong(i, i + 2);
            received.setLong(i, 3 * i + 4);
        }
        Combiner combiner = BY_ELEMENT.get(3).combiner();

        combiner.combine(into.slice(1, length - 2), received.slice(1, length - 2));

        assertEquals(2, into.getLong(0));
        assertEquals(length + 1, into.getLong(length - 1));
        for (int i = 1; i < length - 1; i++) {
            assertEquals((i + 2L) * (3L * i + 4) + 1, into.getLong(i));
            assertEquals(3L * i + 4, received.getLong(i), "what was received stays as it is");
        }
    }

    @ParameterizedTest
    @EnumSource
    void arraysThatDoNotCarryTheTypeAreRefused(DataType type) {
        if (type.byteSize() == 2) {
            assertTrue(ReduceOp.of("take", type, short[].class, TAKE)
                    .unsupportedBecause(type)
                    .isEmpty());
            return;
        }
        Executable making = () -> ReduceOp.of("take", type, short[].class, TAKE);
        String text = assertThrows(IllegalArgumentException.class, making).getMessage();
        assertTrue(text.startsWith("short[] cannot hold " + type.label() + ": use "), text);
    }

    @Test
    void opsWithEqualNameTypeAndCodeAreEqual() {
        ReduceOp op = ReduceOp.of("take", DataType.INT16, short[].class, TAKE);

        assertEquals(op, ReduceOp.of("take", DataType.INT16, short[].class, TAKE));
        assertNotEquals(op, ReduceOp.of("take", DataType.FLOAT16, short[].class, TAKE));
        assertNotEquals(op, ReduceOp.of("other", DataType.INT16, short[].class, TAKE));
        assertEquals(ReduceOp.ofFloats("keep", KEEP), ReduceOp.ofFloats("keep", KEEP));
        assertEquals(
                ReduceOp.ofFloats("keep", KEEP).hashCode(),
                ReduceOp.ofFloats("keep", KEEP).hashCode());
        assertNotEquals(ReduceOp.ofFloats("keep", KEEP), ReduceOp.ofFloats("keep", (a, b) -> a));
    }

    /** Such a lambda fits several overloads of {@code of}, and does not compile there. */
    @Test
    void aLambdaThatOnlyThrowsHasTheTypeOfItsFactory() {
        Map<DataType, ReduceOp> ops = Map.of(
                DataType.FLOAT32,
                ReduceOp.ofFloats("throws", (a, b) -> {
                    throw new ArithmeticException("f32");
                }),
                DataType.FLOAT64,
                ReduceOp.ofDoubles("throws", (a, b) -> {
                    throw new ArithmeticException("f64");
                }),
                DataType.INT32,
                ReduceOp.ofInts("throws", (a, b) -> {
                    throw new ArithmeticException("i32");
                }),
                DataType.INT64,
                ReduceOp.ofLongs("throws", (a, b) -> {
                    throw new ArithmeticException("i64");
                }));

        ops.forEach((type, op) -> {
            HostTensor one = HostTensor.allocate(type, 1);
            Executable combining = () -> op.combiner().combine(one, HostTensor.allocate(type, 1));
            assertEquals(
                    type.label(),
                    assertThrows(ArithmeticException.class, combining).getMessage());
            for (DataType other : DataType.values()) {
                assertEquals(other == type, op.unsupportedBecause(other).isEmpty(), other + " by " + op);
            }
        });
    }

    /** In each form of code, on operands that tell which of them came first. */
    @Test
    void anOrderedOpHasATwinWithSwappedOperands() {
        List<ReduceOp> ops = List.of(
                ReduceOp.ofInts("digits", (into, received) -> 10 * into + received),
                ReduceOp.of("digits", (into, received) -> into.setInt(0, 10 * into.getInt(0) + received.getInt(0))),
                ReduceOp.of("digits", DataType.INT32, int[].class, (into, received, count) -> {
                    into[0] = 10 * into[0] + received[0];
                    received[0] = 99;
                }));
        for (ReduceOp op : ops) {
            ReduceOp ordered = ReduceOp.ordered(op);
            assertEquals("ordered user:digits", ordered.name());
            assertTrue(ordered.isOrdered() && !op.isOrdered());
            assertSame(op, op.swapped());
            assertSame(ordered, ReduceOp.ordered(ordered));
            assertEquals(ordered, ReduceOp.ordered(op));
            assertEquals(ordered.swapped(), ReduceOp.ordered(op).swapped());
            assertNotEquals(ordered, ordered.swapped());
            assertEquals(34, combined(ordered, 3, 4));
            assertEquals(43, combined(ordered.swapped(), 3, 4));
        }
        String text = assertThrows(IllegalArgumentException.class, () -> ReduceOp.ordered(ReduceOp.SUM))
                .getMessage();
        assertEquals("reduction sum commutes: use it without ordered", text);
    }

    private static int combined(ReduceOp op, int one, int other) {
        int[] into = {one};
        op.combiner().combine(HostTensor.of(into), HostTensor.of(new int[] {other}));
        return into[0];
    }

    @Test
    void anOrderedOpOfRecordsSwapsFullRecords() {
        ReduceOp op = ReduceOp.ordered(ReduceOp.ofBytes("own", 3, (into, received) -> {
            for (int at = 0; at < into.limit(); at++) {
                into.put(at, (byte) (2 * into.get(at) + received.get(at)));
            }
        }));
        byte[] into = {1, 2, 3, 4, 5, 6};
        HostTensor received = HostTensor.of(new byte[] {10, 20, 30, 40, 50, 60});
        op.swapped().combiner().combine(HostTensor.of(into), received);

        assertArrayEquals(new byte[] {21, 42, 63, 84, 105, 126}, into);
        assertEquals("ordered user:own of 3 bytes", op.name());
        assertEquals(3, op.swapped().recordElements());
    }

    @Test
    void nullCodeOrANullNameIsRefusedByName() {
        assertEquals("name", nullOf(() -> ReduceOp.ofFloats(null, KEEP)));
        assertEquals("name", nullOf(() -> ReduceOp.of(null, (into, received) -> {})));
        assertEquals("combine", nullOf(() -> ReduceOp.ofFloats("x", null)));
        assertEquals("combiner", nullOf(() -> ReduceOp.of("x", (Combiner) null)));
        assertEquals("type", nullOf(() -> ReduceOp.of("x", null, short[].class, TAKE)));
        assertEquals("array", nullOf(() -> ReduceOp.of("x", DataType.INT16, null, TAKE)));
    }

    private static String nullOf(Executable making) {
        return assertThrows(NullPointerException.class, making).getMessage();
    }

    @Test
    void aCallWithCodeForAnotherTypeIsRefused() {
        HostTensor ints = HostTensor.of(new int[] {5, 6});
        ReduceOp floats = BY_ELEMENT.get(0);
        for (Collective call : List.of(
                Collective.allReduce(ints, floats),
                Collective.reduce(ints, floats, 1),
                Collective.reduceScatter(ints, ints.slice(0, 1), floats))) {
            String text = assertThrows(IllegalArgumentException.class, () -> call.check(0, 2))
                    .getMessage();

            assertEquals(
                    call.kind()
                            + ": reduction user:own accepts only f32, found elements of i32: use a tensor of f32, or"
                            + " a reduction for i32",
                    text);
        }
        assertArrayEquals(new int[] {5, 6}, (int[]) ints.memory());
    }
}

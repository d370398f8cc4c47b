package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every carrier does alike, each compared with single elements. */
class CarrierTest {
    private static final int[] COUNTS = {0, 1, 7, 100};

    @ParameterizedTest
    @EnumSource
    void everyTypeHasTheCarrierOfItsSize(DataType type) {
        Carrier carrier = type.carrier();

        assertEquals(type.byteSize(), carrier.byteSize());
        assertEquals(type.label().contains("f"), type.isFloating(), "floating");
        assertEquals(type.label().startsWith("u"), type.isUnsigned(), "unsigned");
        assertEquals(carrier.arrayName(), carrier.newArray(0).getClass().getSimpleName());
        assertEquals(carrier.elementClass() + "[]", carrier.arrayName());
    }

    @Test
    void anUnknownElementTypeIsRefusedWithTheListOfTypes() {
        var refused = assertThrows(IllegalArgumentException.class, () -> DataType.parse("f8"));

        assertEquals(
                "no element type \"f8\": use one of i8 u8 i16 i32 u32 i64 u64 f16 bf16 f32 f64 u16",
                refused.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void writesAndReadsAtAnyByteAndInEitherOrder(Carrier carrier) {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            for (int count : COUNTS) {
                for (int offset = 0; offset <= carrier.byteSize(); offset++) {
                    Object given = numbers(carrier, count + 5);
                    Object back = carrier.newArray(count + 5);
                    ByteBuffer bytes = ByteBuffer.allocateDirect(offset + count * carrier.byteSize())
                            .order(order)
                            .position(offset);

                    carrier.write(bytes, offset, given, 2, count);
                    carrier.read(bytes, offset, back, 3, count);

                    assertEquals(offset, bytes.position(), "position, which is the caller's");
                    assertEquals(inner(given, 2, count), singles(carrier, bytes, offset, count));
                    assertEquals(inner(given, 2, count), inner(back, 3, count));
                    assertEquals(List.of(0.0, 0.0, 0.0), inner(back, 0, 3), "before the run");
                    assertEquals(List.of(0.0, 0.0), inner(back, 3 + count, 2), "behind the run");
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void putsAndGetsFromThePositionOfTheBuffer(Carrier carrier) {
        int size = carrier.byteSize();
        ByteBuffer bytes = ByteBuffer.allocateDirect(3 + 40 * size)
                .order(ByteOrder.nativeOrder())
                .position(3);
        Object given = numbers(carrier, 40);
        Object back = carrier.newArray(40);

        Buffer view = carrier.view(bytes);
        carrier.put(view, 4, given, 1, 30);
        carrier.get(view, 4, back, 2, 30);

        assertEquals(40, view.capacity());
        assertEquals(inner(given, 1, 30), singles(carrier, bytes, 3 + 4 * size, 30));
        assertEquals(inner(given, 1, 30), inner(back, 2, 30));
    }

    @ParameterizedTest
    @EnumSource
    void aCopyOutsideTheMemoryIsRefusedAndCopiesNothing(Carrier carrier) {
        int size = carrier.byteSize();
        for (int count : new int[] {3, 40}) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(100 * size).order(ByteOrder.nativeOrder());
            bytes.limit(count * size);
            Object numbers = numbers(carrier, count);
            Object back = carrier.newArray(count);

            Class<IndexOutOfBoundsException> refused = IndexOutOfBoundsException.class;
            assertThrows(refused, () -> carrier.write(bytes, 0, numbers, 1, count), "array too short");
            assertThrows(refused, () -> carrier.write(bytes, 1, numbers, 0, count), "behind the limit");
            assertThrows(refused, () -> carrier.write(bytes, 0, numbers, 0, -1), "negative");
            assertEquals(-1, bytes.mismatch(ByteBuffer.allocate(count * size)), "nothing is written");

            carrier.write(bytes, 0, numbers, 0, count);
            assertThrows(refused, () -> carrier.read(bytes, 0, back, 1, count), "array too short");
            assertThrows(refused, () -> carrier.read(bytes, 1, back, 0, count), "behind the limit");
            assertThrows(refused, () -> carrier.read(bytes, 0, back, 0, -1), "negative");
            assertEquals(inner(carrier.newArray(count), 0, count), inner(back, 0, count), "nothing is read");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTensorIsMadeOnlyOfAnArrayOfItsCarrier(DataType type) {
        Object array = numbers(type.carrier(), 7);

        HostTensor tensor = HostTensor.ofArray(type, array, 2, 4);

        assertSame(array, tensor.memory());
        assertEquals(2, tensor.offset());
        assertEquals(4, tensor.elementCount());
        assertEquals(type, tensor.dataType());
        assertThrows(IndexOutOfBoundsException.class, () -> HostTensor.ofArray(type, array, 4, 4));
        for (Carrier other : Carrier.values()) {
            if (other != type.carrier()) {
                var refused = assertThrows(
                        IllegalArgumentException.class, () -> HostTensor.ofArray(type, other.newArray(7), 0, 7));
                assertEquals(
                        other.arrayName() + " cannot hold " + type.label() + ": need a "
                                + type.carrier().arrayName(),
                        refused.getMessage());
            }
        }
    }

    @Test
    void everyCarrierIsUsedByAType() {
        Stream<Carrier> serving = Stream.of(DataType.values()).map(DataType::carrier);

        assertTrue(serving.toList().containsAll(List.of(Carrier.values())));
    }

    /** Returns 1, 2, 3 and so on. */
    private static Object numbers(Carrier carrier, int count) {
        Object array = carrier.newArray(count);
        for (int i = 0; i < count; i++) {
            // the one setter of arrays that takes a byte for all of them
            Array.setByte(array, i, (byte) (i + 1));
        }
        return array;
    }

    private static List<Double> inner(Object array, int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(i -> Array.getDouble(array, i))
                .toList();
    }

    private static List<Double> singles(Carrier carrier, ByteBuffer bytes, int offset, int count) {
        return IntStream.range(0, count)
                .map(i -> offset + i * carrier.byteSize())
                .mapToObj(at -> single(carrier, bytes, at))
                .toList();
    }

    private static double single(Carrier carrier, ByteBuffer bytes, int at) {
        return switch (carrier) {
            case FLOAT -> bytes.getFloat(at);
            case DOUBLE -> bytes.getDouble(at);
            case INT -> bytes.getInt(at);
            case LONG -> bytes.getLong(at);
            case SHORT -> bytes.getShort(at);
            case BYTE -> bytes.get(at);
        };
    }
}

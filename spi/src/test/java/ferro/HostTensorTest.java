package ferro;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HostTensorTest {
    private static final int COUNT = 6;

    @ParameterizedTest
    @EnumSource
    void anElementIsReadBackAsItWasWrittenInEveryMemory(DataType type) {
        for (HostTensor tensor : views(type)) {
            for (int i = 0; i < COUNT; i++) {
                set(tensor, i, 3 * i - 7);
            }
            for (int i = 0; i < COUNT; i++) {
                assertEquals(3 * i - 7, get(tensor, i), "element " + i + " of " + tensor.memory());
                assertEquals(3 * i - 7, get(tensor.slice(i, 1), 0), "the same in a slice");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void elementsOutsideAViewStayUnchanged(DataType type) {
        for (HostTensor tensor : views(type)) {
            HostTensor part = tensor.slice(2, 3);
            HostTensor filled = array(type, 3, 0);
            for (int i = 0; i < 3; i++) {
                set(filled, i, 40 + i);
            }

            part.copyFrom(0, filled, 0, 3);
            set(part, 0, 9);
            set(part, 2, 8);

            assertEquals(List.of(0, 0, 9, 41, 8, 0), elements(tensor));
        }
    }

    @ParameterizedTest
    @EnumSource
    void runsAreCopiedBothWaysInEveryMemory(DataType type) {
        for (HostTensor tensor : views(type)) {
            Object given = filled(type, 5, 20);
            Object taken = filled(type, 5, -1);

            write(tensor, 1, given, 2, 3);
            read(tensor, 0, taken, 1, 4);

            assertEquals(List.of(0, 22, 23, 24, 0, 0), elements(tensor));
            assertEquals(List.of(-1, 0, 22, 23, 24), elements(HostTensor.ofArray(type, taken, 0, 5)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRunIsCopiedBetweenTensorsOfEveryMemory(DataType type) {
        for (HostTensor into : views(type)) {
            for (HostTensor source : views(type)) {
                for (int i = 0; i < COUNT; i++) {
                    set(source, i, 10 + i);
                    set(into, i, 0);
                }

                into.copyFrom(1, source, 3, 2);

                assertEquals(List.of(0, 13, 14, 0, 0, 0), elements(into), into.memory() + " from " + source.memory());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCopyWithinOneMemoryMayOverlap(DataType type) {
        for (HostTensor tensor : views(type)) {
            for (int i = 0; i < COUNT; i++) {
                set(tensor, i, i);
            }

            tensor.copyFrom(1, tensor, 0, 4);

            assertEquals(List.of(0, 0, 1, 2, 3, 5), elements(tensor));
        }
    }

    @Test
    void floatsKeepTheirBits() {
        float odd = Float.intBitsToFloat(0x7FC0_1234);
        for (HostTensor tensor : views(DataType.FLOAT32)) {
            tensor.setFloat(5, odd);
            tensor.setFloat(4, -0.0f);

            assertEquals(0x7FC0_1234, Float.floatToRawIntBits(tensor.getFloat(5)));
            assertEquals(0x8000_0000, Float.floatToRawIntBits(tensor.getFloat(4)));
        }
        for (HostTensor tensor : views(DataType.FLOAT64)) {
            tensor.setDouble(0, Math.PI);

            assertEquals(Math.PI, tensor.getDouble(0));
        }
    }

    @Test
    void unsignedAndHalfBitsAreReadBackUnchanged() {
        HostTensor ints = HostTensor.allocate(DataType.UINT32, 2);
        HostTensor bytes = HostTensor.of(DataType.UINT8, new byte[] {0, (byte) 200}, 0, 2);
        HostTensor halves = HostTensor.allocate(DataType.BFLOAT16, 2);
        ints.setInt(1, 0xF000_0001);
        halves.setShort(1, (short) 0xBF80);

        assertEquals(4_026_531_841L, Integer.toUnsignedLong(ints.getInt(1)));
        assertEquals(200, Byte.toUnsignedInt(bytes.getByte(1)));
        assertEquals((short) 0xBF80, halves.getShort(1));
    }

    @Test
    void anElementsOffsetIsInTheUnitOfItsMemory() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(43).order(ByteOrder.nativeOrder());

        assertEquals(3 + 4 * 5, TensorMemory.offsetAt(HostTensor.of(DataType.FLOAT32, bytes.position(3)), 5));
        assertEquals(2 + 5, TensorMemory.offsetAt(HostTensor.of(new float[10]).slice(2, 8), 5));
    }

    @Test
    void anAccessorOfAnotherTypeIsRefusedWithThoseThatFit() {
        for (HostTensor ints : views(DataType.UINT32)) {
            for (Executable call : List.<Executable>of(
                    () -> ints.getFloat(0),
                    () -> ints.setFloat(0, 1),
                    () -> ints.copyTo(0, new float[1], 0, 1),
                    () -> ints.copyFrom(0, new float[1], 0, 1))) {
                String text = assertThrows(IllegalArgumentException.class, call).getMessage();

                assertEquals(
                        "u32[6] has elements that are read and written as int, not as float: use getInt, setInt, or copies"
                                + " with int[]",
                        text);
            }
            assertEquals(List.of(0, 0, 0, 0, 0, 0), elements(ints));
        }
        for (HostTensor halves : views(DataType.FLOAT16)) {
            assertTrue(assertThrows(IllegalArgumentException.class, () -> halves.getFloat(0))
                    .getMessage()
                    .contains("f16[6] has elements that are read and written as short"));
        }
        HostTensor floats = HostTensor.of(new float[3]);
        assertEquals(
                "copy from i32[3] to f32[3]: both must have the same element type",
                assertThrows(IllegalArgumentException.class, () -> floats.copyFrom(0, HostTensor.of(new int[3]), 0, 3))
                        .getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void anIndexOutsideTheViewIsRefused(DataType type) {
        for (HostTensor whole : views(type)) {
            HostTensor part = whole.slice(1, 3);
            for (long index : new long[] {-1, 3, Long.MIN_VALUE, 1L << 32}) {
                refused(
                        "element " + index + " of " + type.label() + "[3]: need an index from 0 to below 3",
                        () -> get(part, index));
                refused("element " + index + " of", () -> set(part, index, 1));
            }
            Object array = filled(type, 9, 1);
            for (long from : new long[] {-1, 2, Long.MAX_VALUE, Long.MIN_VALUE}) {
                refused("2 elements from index " + from + " of", () -> read(part, from, array, 0, 2));
                refused("2 elements from index " + from + " of", () -> write(part, from, array, 0, 2));
                refused("2 elements from index " + from + " of", () -> part.copyFrom(from, whole, 0, 2));
                refused("2 elements from index " + from + " of", () -> whole.copyFrom(0, part, from, 2));
            }
            refused("-1 elements from index 1 of", () -> read(part, 1, array, 0, -1));
            assertThrows(IndexOutOfBoundsException.class, () -> read(part, 0, array, 7, 3));
            assertThrows(IndexOutOfBoundsException.class, () -> write(part, 0, array, 7, 3));
            assertEquals(List.of(0, 0, 0, 0, 0, 0), elements(whole), "nothing was written");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aNullArrayIsRefusedByName(DataType type) {
        for (HostTensor tensor : views(type)) {
            for (int count : new int[] {0, 1}) {
                Executable reading = () -> read(tensor, 0, null, 0, count);
                Executable writing = () -> write(tensor, 0, null, 0, count);
                Executable copying = () -> tensor.copyFrom(0, (HostTensor) null, 0, count);

                assertEquals(
                        "into",
                        assertThrows(NullPointerException.class, reading).getMessage());
                assertEquals(
                        "source",
                        assertThrows(NullPointerException.class, writing).getMessage());
                assertEquals(
                        "source",
                        assertThrows(NullPointerException.class, copying).getMessage());
            }
        }
    }

    @Test
    void anEmptyPartMayStandAtTheEnd() {
        for (HostTensor tensor : views(DataType.INT64)) {
            tensor.copyTo(6, new long[0], 0, 0);
            tensor.copyFrom(6, tensor, 6, 0);
        }
    }

    @Test
    void anArrayThatIsCopiedFromStaysUnchanged() {
        float[] given = {4, 5, 6};
        HostTensor tensor = HostTensor.allocate(DataType.FLOAT32, 3);

        tensor.copyFrom(0, given, 0, 3);
        tensor.setFloat(1, 9);

        assertArrayEquals(new float[] {4, 5, 6}, given);
        assertEquals(9, tensor.getFloat(1));
    }

    private static void refused(String text, Executable call) {
        String told = assertThrows(IndexOutOfBoundsException.class, call).getMessage();
        assertTrue(told.startsWith(text), told);
    }

    /** Six zeros in a whole array, inside one, in a whole direct buffer, inside one, and at an odd address. */
    private static List<HostTensor> views(DataType type) {
        int bytes = (COUNT + 3) * type.byteSize() + 1;
        ByteBuffer odd = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
        return List.of(
                array(type, COUNT, 0),
                array(type, COUNT + 3, 2).slice(0, COUNT),
                HostTensor.allocate(type, COUNT),
                HostTensor.allocate(type, COUNT + 3).slice(2, COUNT),
                HostTensor.of(type, odd.position(1).limit(1 + COUNT * type.byteSize())));
    }

    private static HostTensor array(DataType type, int length, int skip) {
        return HostTensor.ofArray(type, type.carrier().newArray(length), skip, length - skip);
    }

    private static Object filled(DataType type, int length, int first) {
        Object array = type.carrier().newArray(length);
        HostTensor view = HostTensor.ofArray(type, array, 0, length);
        for (int i = 0; i < length; i++) {
            set(view, i, first < 0 ? first : first + i);
        }
        return array;
    }

    private static List<Integer> elements(HostTensor tensor) {
        Integer[] elements = new Integer[(int) tensor.elementCount()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = get(tensor, i);
        }
        return List.of(elements);
    }

    private static int get(HostTensor tensor, long index) {
        return switch (tensor.dataType().carrier()) {
            case FLOAT -> (int) tensor.getFloat(index);
            case DOUBLE -> (int) tensor.getDouble(index);
            case INT -> tensor.getInt(index);
            case LONG -> (int) tensor.getLong(index);
            case SHORT -> tensor.getShort(index);
            case BYTE -> tensor.getByte(index);
        };
    }

    private static void set(HostTensor tensor, long index, int value) {
        switch (tensor.dataType().carrier()) {
            case FLOAT -> tensor.setFloat(index, value);
            case DOUBLE -> tensor.setDouble(index, value);
            case INT -> tensor.setInt(index, value);
            case LONG -> tensor.setLong(index, value);
            case SHORT -> tensor.setShort(index, (short) value);
            case BYTE -> tensor.setByte(index, (byte) value);
        }
    }

    private static void read(HostTensor tensor, long from, Object array, int at, int count) {
        switch (tensor.dataType().carrier()) {
            case FLOAT -> tensor.copyTo(from, (float[]) array, at, count);
            case DOUBLE -> tensor.copyTo(from, (double[]) array, at, count);
            case INT -> tensor.copyTo(from, (int[]) array, at, count);
            case LONG -> tensor.copyTo(from, (long[]) array, at, count);
            case SHORT -> tensor.copyTo(from, (short[]) array, at, count);
            case BYTE -> tensor.copyTo(from, (byte[]) array, at, count);
        }
    }

    private static void write(HostTensor tensor, long to, Object array, int at, int count) {
        switch (tensor.dataType().carrier()) {
            case FLOAT -> tensor.copyFrom(to, (float[]) array, at, count);
            case DOUBLE -> tensor.copyFrom(to, (double[]) array, at, count);
            case INT -> tensor.copyFrom(to, (int[]) array, at, count);
            case LONG -> tensor.copyFrom(to, (long[]) array, at, count);
            case SHORT -> tensor.copyFrom(to, (short[]) array, at, count);
            case BYTE -> tensor.copyFrom(to, (byte[]) array, at, count);
        }
    }
}

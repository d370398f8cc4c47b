package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Elements that pass a medium's memory, in pieces as short and as oddly placed as links cut them. */
class TypedViewsTest {
    /** Of f32 a loop copies the first two. */
    private static final int[] COUNTS = {1, 4, 5, 40};

    private final ByteBuffer memory = ByteBuffer.allocateDirect(1024).order(ByteOrder.nativeOrder());
    private final TypedViews staged = new TypedViews(memory);

    @ParameterizedTest
    @EnumSource
    void elementsOfArraysComeBackFromAnyByte(DataType type) {
        for (int count : COUNTS) {
            for (int at = 0; at < 2 * type.byteSize(); at++) {
                Object given = numbers(type, count + 3);
                Object back = type.carrier().newArray(count + 3);

                staged.write(type, at, given, 2, count);
                staged.read(type, at, back, 1, count);

                assertEquals(inner(given, 2, count), inner(back, 1, count), count + " at " + at);
                assertEquals(0, Array.getDouble(back, 0), "before the run");
                assertEquals(0, Array.getDouble(back, count + 1), "behind the run");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void elementsOfBuffersAreTheSameBytesAsThoseOfArrays(DataType type) {
        int size = type.byteSize();
        for (int count : COUNTS) {
            for (int at = 0; at < size; at++) {
                Object given = numbers(type, count);
                Object back = type.carrier().newArray(count);
                ByteBuffer direct = ByteBuffer.allocateDirect(3 + count * size).order(ByteOrder.nativeOrder());

                staged.write(type, at, given, 0, count);
                staged.read(type, at, direct, 3, count);
                staged.write(type, 500, direct, 3, count);
                staged.read(type, 500, back, 0, count);

                assertEquals(-1, memory.slice(at, count * size).mismatch(direct.slice(3, count * size)));
                assertEquals(inner(given, 0, count), inner(back, 0, count), count + " at " + at);
            }
        }
    }

    private static Object numbers(DataType type, int count) {
        Object array = type.carrier().newArray(count);
        for (int i = 0; i < count; i++) {
            Array.setByte(array, i, (byte) (i + 1));
        }
        return array;
    }

    private static List<Double> inner(Object array, int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(i -> Array.getDouble(array, i))
                .toList();
    }
}

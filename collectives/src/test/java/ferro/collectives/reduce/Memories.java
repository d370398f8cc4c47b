package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/** Memories of each kind, read and written element by element, for comparing with plain loops. */
final class Memories {
    private Memories() {}

    /** An array, a direct buffer, or a direct buffer at an odd address. */
    enum Kind {
        ARRAY,
        DIRECT,
        ODD_DIRECT
    }

    /** A memory and where its elements begin, in the unit of the kernels. */
    record Run(DataType type, Object memory, long offset) {
        /** Returns an element; unsigned ones and 16-bit floats as the signed integer of their bits. */
        Number at(int index) {
            if (!(memory instanceof ByteBuffer bytes)) {
                return (Number) Array.get(memory, (int) offset + index);
            }
            long bits = 0;
            for (int octet = 0; octet < type.byteSize(); octet++) {
                bits |= (bytes.get(byteAt(index, octet)) & 0xFFL) << 8 * octet;
            }
            return switch (type.carrier()) {
                case FLOAT -> Float.intBitsToFloat((int) bits);
                case DOUBLE -> Double.longBitsToDouble(bits);
                case LONG -> bits;
                case INT -> (int) bits;
                case SHORT -> (short) bits;
                case BYTE -> (byte) bits;
            };
        }

        void put(int index, Number value) {
            if (memory instanceof ByteBuffer bytes) {
                long bits = type == DataType.FLOAT32
                        ? Float.floatToRawIntBits(value.floatValue())
                        : type == DataType.FLOAT64
                                ? Double.doubleToRawLongBits(value.doubleValue())
                                : value.longValue();
                for (int octet = 0; octet < type.byteSize(); octet++) {
                    bytes.put(byteAt(index, octet), (byte) (bits >> 8 * octet));
                }
                return;
            }
            int at = (int) offset + index;
            switch (type.carrier()) {
                case FLOAT -> Array.setFloat(memory, at, value.floatValue());
                case DOUBLE -> Array.setDouble(memory, at, value.doubleValue());
                case LONG -> Array.setLong(memory, at, value.longValue());
                case INT -> Array.setInt(memory, at, (int) value.longValue());
                case SHORT -> Array.setShort(memory, at, (short) value.longValue());
                case BYTE -> Array.setByte(memory, at, (byte) value.longValue());
            }
        }

        /** Returns where a byte of an element lies; octet 0 has the lowest bits. The code under test is not asked. */
        private int byteAt(int index, int octet) {
            boolean isLittle = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
            return (int) offset + index * type.byteSize() + (isLittle ? octet : type.byteSize() - 1 - octet);
        }
    }

    /** Checks that two runs have the same elements, and the same one behind. */
    static void assertSame(Run expected, Run found, int length, String what) {
        for (int i = 0; i <= length; i++) {
            if (!expected.at(i).equals(found.at(i))) {
                assertEquals(expected.at(i), found.at(i), what + ", element " + i + " of " + length + " of " + found);
            }
        }
    }

    static long bits(Number element) {
        if (element instanceof Float value) {
            return Float.floatToRawIntBits(value);
        }
        return element instanceof Double value ? Double.doubleToRawLongBits(value) : element.longValue();
    }

    /** Returns zeroed memory for {@code count} elements after {@code skip} others, and three more behind. */
    static Run of(DataType type, Kind kind, int skip, int count) {
        int total = skip + count + 3;
        if (kind == Kind.ARRAY) {
            return new Run(type, type.carrier().newArray(total), skip);
        }
        int odd = kind == Kind.ODD_DIRECT ? 1 : 0;
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(total * type.byteSize() + odd).order(ByteOrder.nativeOrder());
        return new Run(type, bytes, (long) skip * type.byteSize() + odd);
    }

    /**
     * Returns such memory with random elements, and one more behind: thousands for f32 and f64, any bits for the other types. The
     * same arguments give the same elements.
     */
    static Run random(DataType type, Kind kind, int skip, int count) {
        Run run = of(type, kind, skip, count);
        Random random = new Random(31 * skip + count);
        boolean isReal = type == DataType.FLOAT32 || type == DataType.FLOAT64;
        for (int i = 0; i <= count; i++) {
            // boxed each, as one expression would be of double
            Number element = isReal ? (Number) (random.nextGaussian() * 1e3) : (Number) random.nextLong();
            run.put(i, element);
        }
        return run;
    }
}

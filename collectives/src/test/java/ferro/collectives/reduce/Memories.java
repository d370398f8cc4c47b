package ferro.collectives.reduce;

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
            if (memory instanceof ByteBuffer bytes) {
                int at = (int) offset + index * type.byteSize();
                return switch (type.carrier()) {
                    case FLOAT -> bytes.getFloat(at);
                    case DOUBLE -> bytes.getDouble(at);
                    case LONG -> bytes.getLong(at);
                    case INT -> bytes.getInt(at);
                    case SHORT -> bytes.getShort(at);
                    case BYTE -> bytes.get(at);
                };
            }
            return (Number) Array.get(memory, (int) offset + index);
        }

        void put(int index, Number value) {
            ByteBuffer bytes = memory instanceof ByteBuffer buffer ? buffer : null;
            int at = (int) offset + index * (bytes == null ? 1 : type.byteSize());
            switch (type) {
                case FLOAT32 -> {
                    if (bytes == null) {
                        ((float[]) memory)[at] = value.floatValue();
                    } else {
                        bytes.putFloat(at, value.floatValue());
                    }
                }
                case FLOAT64 -> {
                    if (bytes == null) {
                        ((double[]) memory)[at] = value.doubleValue();
                    } else {
                        bytes.putDouble(at, value.doubleValue());
                    }
                }
                default -> putInteger(bytes, at, value.longValue());
            }
        }

        private void putInteger(ByteBuffer bytes, int at, long value) {
            if (bytes == null) {
                switch (type.byteSize()) {
                    case 8 -> ((long[]) memory)[at] = value;
                    case 4 -> ((int[]) memory)[at] = (int) value;
                    case 2 -> ((short[]) memory)[at] = (short) value;
                    default -> ((byte[]) memory)[at] = (byte) value;
                }
                return;
            }
            switch (type.byteSize()) {
                case 8 -> bytes.putLong(at, value);
                case 4 -> bytes.putInt(at, (int) value);
                case 2 -> bytes.putShort(at, (short) value);
                default -> bytes.put(at, (byte) value);
            }
        }
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

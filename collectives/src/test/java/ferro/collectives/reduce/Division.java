package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HalfFloats;
import java.nio.ByteBuffer;

/** Divides sums of floats one by one: what kernels of AVG are compared with. */
final class Division {
    /** A loop that always has this length is vectorised, whatever lengths came first: see {@link BlockKernel}. */
    private static final int BLOCK = 512;

    private Division() {}

    /**
     * Divides elements in place. Divides f16 and bf16 in f32, and rounds once.
     *
     * @param type    element type, a floating-point one; {@link WholeSums} divides averages of integers
     * @param memory  array of the type or direct buffer in native order
     * @param offset  first element
     * @param count   elements
     * @param divisor number to divide by
     * @throws IllegalArgumentException if the type is an integer one
     */
    static void divide(DataType type, Object memory, long offset, long count, long divisor) {
        if (!type.isFloating()) {
            throw new IllegalArgumentException(
                    "divide of " + type.label() + ": a sum of integers may have wrapped, use WholeSums");
        }
        int from = Math.toIntExact(offset);
        int length = Math.toIntExact(count);
        switch (type.carrier()) {
            case FLOAT -> divideFloats(memory, from, length, divisor);
            case DOUBLE -> divideDoubles(memory, from, length, divisor);
            default -> divideHalves(type, memory, from, length, divisor);
        }
    }

    private static void divideFloats(Object memory, int from, int count, float divisor) {
        if (memory instanceof float[] array) {
            int blocksEnd = from + count / BLOCK * BLOCK;
            for (int at = from; at < blocksEnd; at += BLOCK) {
                divideBlock(array, at, divisor);
            }
            for (int at = blocksEnd; at < from + count; at++) {
                array[at] /= divisor;
            }
        } else {
            ByteBuffer bytes = (ByteBuffer) memory;
            for (int at = from; at < from + 4 * count; at += 4) {
                bytes.putFloat(at, bytes.getFloat(at) / divisor);
            }
        }
    }

    private static void divideBlock(float[] array, int from, float divisor) {
        for (int at = from; at < from + BLOCK; at++) {
            array[at] /= divisor;
        }
    }

    private static void divideDoubles(Object memory, int from, int count, double divisor) {
        if (memory instanceof double[] array) {
            int blocksEnd = from + count / BLOCK * BLOCK;
            for (int at = from; at < blocksEnd; at += BLOCK) {
                divideBlock(array, at, divisor);
            }
            for (int at = blocksEnd; at < from + count; at++) {
                array[at] /= divisor;
            }
        } else {
            ByteBuffer bytes = (ByteBuffer) memory;
            for (int at = from; at < from + 8 * count; at += 8) {
                bytes.putDouble(at, bytes.getDouble(at) / divisor);
            }
        }
    }

    private static void divideBlock(double[] array, int from, double divisor) {
        for (int at = from; at < from + BLOCK; at++) {
            array[at] /= divisor;
        }
    }

    private static void divideHalves(DataType type, Object memory, int from, int count, float divisor) {
        if (memory instanceof short[] array) {
            for (int at = from; at < from + count; at++) {
                array[at] = HalfFloats.narrow(type, HalfFloats.widen(type, array[at]) / divisor);
            }
        } else {
            ByteBuffer bytes = (ByteBuffer) memory;
            for (int at = from; at < from + 2 * count; at += 2) {
                bytes.putShort(at, HalfFloats.narrow(type, HalfFloats.widen(type, bytes.getShort(at)) / divisor));
            }
        }
    }
}

package ferro.tck.cells;

import ferro.Carrier;
import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * Access to elements in any kind of memory as raw bits in longs, sign-extended. Each method handles all elements of a
 * tensor and determines the kind of memory once, because rules check millions of elements.
 */
public final class Bits {
    private Bits() {}

    /** Reads all elements. */
    public static long[] of(HostTensor elements) {
        int count = (int) elements.elementCount();
        if (elements.memory() instanceof ByteBuffer) {
            Carrier carrier = carrier(elements.dataType());
            Object array = carrier.newArray(count);
            carrier.read(elements.buffer(), 0, array, 0, count);
            return of(array, 0, new long[count]);
        }
        return of(elements.memory(), (int) elements.offset(), new long[count]);
    }

    /** Writes all elements. An element of less than 64 bits keeps the lowest bits. */
    static void into(HostTensor elements, long[] bits) {
        int count = (int) elements.elementCount();
        if (elements.memory() instanceof ByteBuffer) {
            Carrier carrier = carrier(elements.dataType());
            Object array = carrier.newArray(count);
            into(array, 0, bits);
            carrier.write(elements.buffer(), 0, array, 0, count);
        } else {
            into(elements.memory(), (int) elements.offset(), bits);
        }
    }

    /** Writes the bits of each element by its index, and returns the tensor. */
    public static HostTensor fill(HostTensor elements, IntToLongFunction byIndex) {
        long[] bits = new long[(int) elements.elementCount()];
        Arrays.setAll(bits, byIndex);
        into(elements, bits);
        return elements;
    }

    /** Returns the integers that have the size of a type. */
    private static Carrier carrier(DataType type) {
        return switch (type.byteSize()) {
            case 1 -> Carrier.BYTE;
            case 2 -> Carrier.SHORT;
            case 4 -> Carrier.INT;
            default -> Carrier.LONG;
        };
    }

    private static long[] of(Object array, int from, long[] bits) {
        if (array instanceof byte[] each) {
            for (int index = 0; index < bits.length; index++) {
                bits[index] = each[from + index];
            }
        } else if (array instanceof short[] each) {
            for (int index = 0; index < bits.length; index++) {
                bits[index] = each[from + index];
            }
        } else if (array instanceof int[] each) {
            for (int index = 0; index < bits.length; index++) {
                bits[index] = each[from + index];
            }
        } else if (array instanceof float[] each) {
            for (int index = 0; index < bits.length; index++) {
                bits[index] = Float.floatToRawIntBits(each[from + index]);
            }
        } else if (array instanceof double[] each) {
            for (int index = 0; index < bits.length; index++) {
                bits[index] = Double.doubleToRawLongBits(each[from + index]);
            }
        } else {
            System.arraycopy(array, from, bits, 0, bits.length);
        }
        return bits;
    }

    private static void into(Object array, int from, long[] bits) {
        if (array instanceof byte[] each) {
            for (int index = 0; index < bits.length; index++) {
                each[from + index] = (byte) bits[index];
            }
        } else if (array instanceof short[] each) {
            for (int index = 0; index < bits.length; index++) {
                each[from + index] = (short) bits[index];
            }
        } else if (array instanceof int[] each) {
            for (int index = 0; index < bits.length; index++) {
                each[from + index] = (int) bits[index];
            }
        } else if (array instanceof float[] each) {
            for (int index = 0; index < bits.length; index++) {
                each[from + index] = Float.intBitsToFloat((int) bits[index]);
            }
        } else if (array instanceof double[] each) {
            for (int index = 0; index < bits.length; index++) {
                each[from + index] = Double.longBitsToDouble(bits[index]);
            }
        } else {
            System.arraycopy(bits, 0, array, from, bits.length);
        }
    }
}

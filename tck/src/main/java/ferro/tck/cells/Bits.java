package ferro.tck.cells;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
            return of(copied(elements), 0, new long[count]);
        }
        return of(elements.memory(), (int) elements.offset(), new long[count]);
    }

    /** Writes all elements. An element of less than 64 bits keeps the lowest bits. */
    static void into(HostTensor elements, long[] bits) {
        int count = (int) elements.elementCount();
        if (elements.memory() instanceof ByteBuffer) {
            Object array = carrier(elements.dataType(), count);
            into(array, 0, bits);
            copyTo(elements, array);
        } else {
            into(elements.memory(), (int) elements.offset(), bits);
        }
    }

    /** Writes the bits of each element by its index, and returns the tensor. */
    public static HostTensor fill(HostTensor elements, IntToLongFunction byIndex) {
        long[] bits = new long[(int) elements.elementCount()];
        for (int index = 0; index < bits.length; index++) {
            bits[index] = byIndex.applyAsLong(index);
        }
        into(elements, bits);
        return elements;
    }

    /** Returns an array for elements of the size of this type. */
    private static Object carrier(DataType type, int count) {
        return switch (type.byteSize()) {
            case 1 -> new byte[count];
            case 2 -> new short[count];
            case 4 -> new int[count];
            default -> new long[count];
        };
    }

    private static ByteBuffer bytes(HostTensor elements) {
        int from = (int) elements.offset();
        return ((ByteBuffer) elements.memory())
                .duplicate()
                .limit(from + (int) elements.byteCount())
                .position(from)
                .slice()
                .order(ByteOrder.nativeOrder());
    }

    private static Object copied(HostTensor elements) {
        Object array = carrier(elements.dataType(), (int) elements.elementCount());
        ByteBuffer bytes = bytes(elements);
        if (array instanceof byte[] each) {
            bytes.get(each);
        } else if (array instanceof short[] each) {
            bytes.asShortBuffer().get(each);
        } else if (array instanceof int[] each) {
            bytes.asIntBuffer().get(each);
        } else {
            bytes.asLongBuffer().get((long[]) array);
        }
        return array;
    }

    private static void copyTo(HostTensor elements, Object array) {
        ByteBuffer bytes = bytes(elements);
        if (array instanceof byte[] each) {
            bytes.put(each);
        } else if (array instanceof short[] each) {
            bytes.asShortBuffer().put(each);
        } else if (array instanceof int[] each) {
            bytes.asIntBuffer().put(each);
        } else {
            bytes.asLongBuffer().put((long[]) array);
        }
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

package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;

/** Multiplies elements into memory of their own: the first half of a sum of multiplied inputs. */
public final class Multiplied {
    private Multiplied() {}

    /**
     * Returns the products of elements and a factor, each rounded once; f16 and bf16 are multiplied in f32, integers by a whole
     * factor wrap.
     *
     * @param given  elements, left as they are
     * @param factor by what
     * @return as many elements in an array of their own; {@code given} itself where the factor is 1
     */
    public static HostTensor of(HostTensor given, double factor) {
        if (factor == 1) {
            return given;
        }
        DataType type = given.dataType();
        int count = Math.toIntExact(given.elementCount());
        Object array = Elements.array(type, count);
        Elements.copy(type, array, 0, given.memory(), Elements.at(given, 0), count);
        if (array instanceof float[] elements) {
            return multiplied(elements, (float) factor);
        } else if (array instanceof double[] elements) {
            return multiplied(elements, factor);
        } else if (array instanceof int[] elements) {
            return multiplied(type, elements, (long) factor);
        } else if (array instanceof long[] elements) {
            return multiplied(type, elements, (long) factor);
        } else if (array instanceof short[] elements) {
            return multiplied(type, elements, factor);
        }
        return multiplied(type, (byte[]) array, (long) factor);
    }

    private static HostTensor multiplied(float[] elements, float factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
        return HostTensor.of(elements);
    }

    private static HostTensor multiplied(double[] elements, double factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
        return HostTensor.of(elements);
    }

    private static HostTensor multiplied(DataType type, int[] elements, long factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (int) (elements[i] * factor);
        }
        return HostTensor.of(type, elements, 0, elements.length);
    }

    private static HostTensor multiplied(DataType type, long[] elements, long factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
        return HostTensor.of(type, elements, 0, elements.length);
    }

    private static HostTensor multiplied(DataType type, short[] elements, double factor) {
        boolean whole = type == DataType.INT16;
        for (int i = 0; i < elements.length; i++) {
            elements[i] = whole
                    ? (short) (elements[i] * (long) factor)
                    : HalfFloats.narrow(type, HalfFloats.widen(type, elements[i]) * (float) factor);
        }
        return HostTensor.of(type, elements, 0, elements.length);
    }

    private static HostTensor multiplied(DataType type, byte[] elements, long factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (byte) (elements[i] * factor);
        }
        return HostTensor.of(type, elements, 0, elements.length);
    }
}

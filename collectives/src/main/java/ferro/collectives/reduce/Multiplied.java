package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;

/** Multiplies elements into separate memory: the first half of a sum of multiplied inputs. */
public final class Multiplied {
    private Multiplied() {}

    /**
     * Returns the products of elements and a factor, each rounded once. f16 and bf16 are multiplied in f32; integers are
     * multiplied by a whole factor and wrap.
     *
     * @param given  elements, which are not changed
     * @param factor number to multiply by
     * @return the products in a new array; {@code given} itself if the factor is 1
     */
    public static HostTensor of(HostTensor given, double factor) {
        if (factor == 1) {
            return given;
        }
        DataType type = given.dataType();
        int count = Math.toIntExact(given.elementCount());
        Object array = type.carrier().newArray(count);
        Elements.copy(type, array, 0, given.memory(), Elements.at(given, 0), count);
        switch (type.carrier()) {
            case FLOAT -> multiply((float[]) array, (float) factor);
            case DOUBLE -> multiply((double[]) array, factor);
            case INT -> multiply((int[]) array, (long) factor);
            case LONG -> multiply((long[]) array, (long) factor);
            case SHORT -> multiply(type, (short[]) array, factor);
            case BYTE -> multiply((byte[]) array, (long) factor);
        }
        return HostTensor.ofArray(type, array, 0, count);
    }

    private static void multiply(float[] elements, float factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
    }

    private static void multiply(double[] elements, double factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
    }

    private static void multiply(int[] elements, long factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (int) (elements[i] * factor);
        }
    }

    private static void multiply(long[] elements, long factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
    }

    private static void multiply(DataType type, short[] elements, double factor) {
        boolean whole = !type.isFloating();
        for (int i = 0; i < elements.length; i++) {
            elements[i] = whole
                    ? (short) (elements[i] * (long) factor)
                    : HalfFloats.narrow(type, HalfFloats.widen(type, elements[i]) * (float) factor);
        }
    }

    private static void multiply(byte[] elements, long factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (byte) (elements[i] * factor);
        }
    }
}

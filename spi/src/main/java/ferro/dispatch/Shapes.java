package ferro.dispatch;

import ferro.CollectiveKind;
import java.util.Arrays;

/**
 * Computations of the shapes of results. Parts are joined and divided along the first dimension, which has the longest
 * stride.
 */
final class Shapes {
    private Shapes() {}

    static long[] joined(long[] shape, int parts) {
        if (shape.length == 0) {
            return new long[] {parts};
        }
        long[] joined = shape.clone();
        joined[0] = Math.multiplyExact(shape[0], (long) parts);
        return joined;
    }

    /**
     * Returns the shape of one part, whose first dimension is divided by {@code parts}. If {@code parts} divides the
     * number of elements but not the first dimension, the part is one-dimensional.
     */
    static long[] part(CollectiveKind kind, long[] shape, int parts) {
        long elements = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        if (elements % parts != 0) {
            throw new IllegalArgumentException(kind + ": input " + Arrays.toString(shape) + " has " + elements
                    + " elements, not a multiple of world size " + parts);
        }
        if (shape.length == 0 || shape[0] % parts != 0) {
            return new long[] {elements / parts};
        }
        long[] part = shape.clone();
        part[0] = shape[0] / parts;
        return part;
    }
}

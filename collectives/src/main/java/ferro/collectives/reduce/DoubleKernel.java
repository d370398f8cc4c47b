package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.Arrays;

/**
 * Kernels of f64. A test for NaN in the loop would keep it scalar, so the loop only sums up {@code result - result}, which is 0
 * for numbers and NaN for NaN and infinity; where that sum says so, a second pass over the results makes NaNs canonical.
 */
abstract class DoubleKernel extends BlockKernel {
    private static final int BLOCK = BLOCK_BYTES / Double.BYTES;

    private final double[] left = new double[BLOCK];
    private final double[] right = new double[BLOCK];
    private final double[] taint = new double[BLOCK];
    private final double[] untainted = new double[BLOCK];
    private final Views intoViews = new Views(DataType.FLOAT64);
    private final Views sourceViews = new Views(DataType.FLOAT64);

    DoubleKernel() {
        super(DataType.FLOAT64, BLOCK);
    }

    /** Combines blocks; {@code taint} gathers what may be NaN. */
    abstract void combine(double[] left, double[] right, double[] taint);

    /** Combines two elements. */
    abstract double combine(double left, double right);

    @Override
    final void combineOne(Object into, long intoOffset, Object source, long sourceOffset) {
        double result = combine(one(into, intoOffset), one(source, sourceOffset));
        put(into, intoOffset, Double.isNaN(result) ? Double.NaN : result);
    }

    private static double one(Object memory, long offset) {
        int at = Math.toIntExact(offset);
        return memory instanceof double[] array ? array[at] : ((ByteBuffer) memory).getDouble(at);
    }

    private static void put(Object memory, long offset, double element) {
        int at = Math.toIntExact(offset);
        if (memory instanceof double[] array) {
            array[at] = element;
        } else {
            ((ByteBuffer) memory).putDouble(at, element);
        }
    }

    @Override
    final void clear(int from, int length) {
        Arrays.fill(left, from, from + length, 0);
        Arrays.fill(right, from, from + length, 0);
    }

    @Override
    final void loadInto(Object memory, long offset, int length) {
        load(memory, offset, left, intoViews, length);
    }

    @Override
    final void loadSource(Object memory, long offset, int length) {
        load(memory, offset, right, sourceViews, length);
    }

    @Override
    final void combineBlocks() {
        combine(left, right, taint);
    }

    @Override
    final void store(Object memory, long offset, int length) {
        store(memory, offset, left, intoViews, length);
    }

    @Override
    final void storeSource(Object memory, long offset, int length) {
        store(memory, offset, left, sourceViews, length);
    }

    @Override
    final boolean sawNaN(int length) {
        // compared by many elements at once, which no loop that adds them up is compiled to
        if (Arrays.mismatch(taint, 0, length, untainted, 0, length) < 0) {
            return false;
        }
        Arrays.fill(taint, 0);
        return true;
    }

    @Override
    final void canonical(int length) {
        for (int i = 0; i < length; i++) {
            if (Double.isNaN(left[i])) {
                left[i] = Double.NaN;
            }
        }
    }

    private static void store(Object memory, long offset, double[] block, Views views, int length) {
        if (memory instanceof double[] array) {
            System.arraycopy(block, 0, array, Math.toIntExact(offset), length);
        } else {
            DoubleBuffer view = (DoubleBuffer) views.at((ByteBuffer) memory, offset);
            view.put(views.index(offset), block, 0, length);
        }
    }

    private static void load(Object memory, long offset, double[] block, Views views, int length) {
        if (memory instanceof double[] array) {
            System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
        } else {
            DoubleBuffer view = (DoubleBuffer) views.at((ByteBuffer) memory, offset);
            view.get(views.index(offset), block, 0, length);
        }
    }

    /** SUM. */
    static final class Sum extends DoubleKernel {
        @Override
        double combine(double left, double right) {
            return left + right;
        }

        @Override
        void combine(double[] left, double[] right, double[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                double result = left[i] + right[i];
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }

    /** PRODUCT. */
    static final class Product extends DoubleKernel {
        @Override
        double combine(double left, double right) {
            return left * right;
        }

        @Override
        void combine(double[] left, double[] right, double[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                double result = left[i] * right[i];
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }

    /** MIN. */
    static final class Min extends DoubleKernel {
        @Override
        double combine(double left, double right) {
            return Math.min(left, right);
        }

        @Override
        void combine(double[] left, double[] right, double[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                double result = Math.min(left[i], right[i]);
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }

    /** MAX. */
    static final class Max extends DoubleKernel {
        @Override
        double combine(double left, double right) {
            return Math.max(left, right);
        }

        @Override
        void combine(double[] left, double[] right, double[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                double result = Math.max(left[i], right[i]);
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }
}

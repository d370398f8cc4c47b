package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;

/**
 * Kernels of f32. A test for NaN in the loop would keep it scalar, so the loop only sums up {@code result - result}, which is 0
 * for numbers and NaN for NaN and infinity; where that sum says so, a second pass over the results makes NaNs canonical.
 */
abstract class FloatKernel extends BlockKernel {
    private static final int BLOCK = BLOCK_BYTES / Float.BYTES;

    private final float[] left = new float[BLOCK];
    private final float[] right = new float[BLOCK];
    private final float[] taint = new float[BLOCK];
    private final Views intoViews = new Views(DataType.FLOAT32);
    private final Views sourceViews = new Views(DataType.FLOAT32);

    FloatKernel() {
        super(DataType.FLOAT32);
    }

    /** Combines blocks; {@code taint} gathers what may be NaN. */
    abstract void combine(float[] left, float[] right, float[] taint);

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
        if (memory instanceof float[] array) {
            System.arraycopy(left, 0, array, Math.toIntExact(offset), length);
        } else {
            FloatBuffer view = (FloatBuffer) intoViews.at((ByteBuffer) memory, offset);
            view.put(intoViews.index(offset), left, 0, length);
        }
    }

    @Override
    final boolean sawNaN(int length) {
        // four sums, for one would wait for each addition
        float sum0 = 0;
        float sum1 = 0;
        float sum2 = 0;
        float sum3 = 0;
        for (int i = 0; i < length; i += 4) {
            sum0 += taint[i];
            sum1 += taint[i + 1];
            sum2 += taint[i + 2];
            sum3 += taint[i + 3];
        }
        if (Float.isNaN(sum0 + sum1 + sum2 + sum3)) {
            Arrays.fill(taint, 0);
            return true;
        }
        return false;
    }

    @Override
    final void canonical(int length) {
        for (int i = 0; i < length; i++) {
            if (Float.isNaN(left[i])) {
                left[i] = Float.NaN;
            }
        }
    }

    private static void load(Object memory, long offset, float[] block, Views views, int length) {
        if (memory instanceof float[] array) {
            System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
        } else {
            FloatBuffer view = (FloatBuffer) views.at((ByteBuffer) memory, offset);
            view.get(views.index(offset), block, 0, length);
        }
    }

    /** SUM. */
    static final class Sum extends FloatKernel {
        @Override
        void combine(float[] left, float[] right, float[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                float result = left[i] + right[i];
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }

    /** PRODUCT. */
    static final class Product extends FloatKernel {
        @Override
        void combine(float[] left, float[] right, float[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                float result = left[i] * right[i];
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }

    /** MIN. */
    static final class Min extends FloatKernel {
        @Override
        void combine(float[] left, float[] right, float[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                float result = Math.min(left[i], right[i]);
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }

    /** MAX. */
    static final class Max extends FloatKernel {
        @Override
        void combine(float[] left, float[] right, float[] taint) {
            for (int i = 0; i < BLOCK; i++) {
                float result = Math.max(left[i], right[i]);
                left[i] = result;
                taint[i] += result - result;
            }
        }
    }
}

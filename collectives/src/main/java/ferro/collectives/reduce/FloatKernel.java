package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Arrays;

/**
 * Kernels of f32, and of f16 and bf16, which are widened to f32, combined, and rounded once.
 *
 * <p>A test for NaN in the loop would keep it scalar, so the loop only sums up {@code result - result}, which is 0
 * for numbers and NaN for NaN and infinity; where that sum says so, a second pass over the results makes NaNs canonical.
 */
abstract class FloatKernel extends BlockKernel {
    static final int BLOCK = BLOCK_BYTES / Float.BYTES;

    private final float[] left = new float[BLOCK];
    private final float[] right = new float[BLOCK];
    private final float[] taint = new float[BLOCK];
    private final float[] untainted = new float[BLOCK];
    private final FloatRuns into;
    private final FloatRuns source;

    FloatKernel(DataType type, HalfConversion conversion) {
        super(type, BLOCK);
        this.into = FloatRuns.of(type, conversion);
        this.source = FloatRuns.of(type, conversion);
    }

    /** Returns the kernel of an op; {@code conversion} is that of f16 and bf16. */
    static FloatKernel of(ReduceOp op, DataType type, HalfConversion conversion) {
        if (op == ReduceOp.PRODUCT) {
            return new Product(type, conversion);
        } else if (op == ReduceOp.MIN) {
            return new Min(type, conversion);
        } else if (op == ReduceOp.MAX) {
            return new Max(type, conversion);
        }
        return new Sum(type, conversion);
    }

    /** Combines blocks; {@code taint} gathers what may be NaN. */
    abstract void combine(float[] left, float[] right, float[] taint);

    /** Combines two elements. */
    abstract float combine(float left, float right);

    @Override
    final void combineOne(Object into, long intoOffset, Object source, long sourceOffset) {
        float result = combine(this.into.one(into, intoOffset), this.source.one(source, sourceOffset));
        this.into.put(into, intoOffset, Float.isNaN(result) ? Float.NaN : result);
    }

    @Override
    final void clear(int from, int length) {
        Arrays.fill(left, from, from + length, 0);
        Arrays.fill(right, from, from + length, 0);
    }

    @Override
    final void loadInto(Object memory, long offset, int length) {
        into.load(memory, offset, left, length);
    }

    @Override
    final void loadSource(Object memory, long offset, int length) {
        source.load(memory, offset, right, length);
    }

    @Override
    final void combineBlocks() {
        combine(left, right, taint);
    }

    @Override
    final void store(Object memory, long offset, int length) {
        into.store(memory, offset, left, length);
    }

    @Override
    final void storeSource(Object memory, long offset, int length) {
        source.store(memory, offset, left, length);
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
            if (Float.isNaN(left[i])) {
                left[i] = Float.NaN;
            }
        }
    }

    /** SUM. */
    static final class Sum extends FloatKernel {
        Sum(DataType type, HalfConversion conversion) {
            super(type, conversion);
        }

        @Override
        float combine(float left, float right) {
            return left + right;
        }

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
        Product(DataType type, HalfConversion conversion) {
            super(type, conversion);
        }

        @Override
        float combine(float left, float right) {
            return left * right;
        }

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
        Min(DataType type, HalfConversion conversion) {
            super(type, conversion);
        }

        @Override
        float combine(float left, float right) {
            return Math.min(left, right);
        }

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
        Max(DataType type, HalfConversion conversion) {
            super(type, conversion);
        }

        @Override
        float combine(float left, float right) {
            return Math.max(left, right);
        }

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

package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.Arrays;

/** Kernels of i32 and u32: two's complement sums and multiplies both alike, only their order differs. */
abstract class IntKernel extends BlockKernel {
    private static final int BLOCK = BLOCK_BYTES / Integer.BYTES;
    /** Flipping it makes the signed order the unsigned one; unlike a call of compareUnsigned, the loop is vectorised. */
    private static final int SIGN = Integer.MIN_VALUE;

    private final int[] left = new int[BLOCK];
    private final int[] right = new int[BLOCK];
    private final Views intoViews = new Views(DataType.INT32);
    private final Views sourceViews = new Views(DataType.INT32);

    IntKernel() {
        super(DataType.INT32, BLOCK);
    }

    /** Combines blocks, whole. */
    abstract void combine(int[] left, int[] right);

    /** Combines two elements. */
    abstract int combine(int left, int right);

    @Override
    final void combineOne(Object into, long intoOffset, Object source, long sourceOffset) {
        int result = combine(one(into, intoOffset), one(source, sourceOffset));
        put(into, intoOffset, result);
    }

    private static int one(Object memory, long offset) {
        int at = Math.toIntExact(offset);
        return memory instanceof int[] array ? array[at] : ((ByteBuffer) memory).getInt(at);
    }

    private static void put(Object memory, long offset, int element) {
        int at = Math.toIntExact(offset);
        if (memory instanceof int[] array) {
            array[at] = element;
        } else {
            ((ByteBuffer) memory).putInt(at, element);
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
        combine(left, right);
    }

    @Override
    final void store(Object memory, long offset, int length) {
        store(memory, offset, left, intoViews, length);
    }

    @Override
    final void storeSource(Object memory, long offset, int length) {
        store(memory, offset, left, sourceViews, length);
    }

    private static void store(Object memory, long offset, int[] block, Views views, int length) {
        if (memory instanceof int[] array) {
            System.arraycopy(block, 0, array, Math.toIntExact(offset), length);
        } else {
            IntBuffer view = (IntBuffer) views.at((ByteBuffer) memory, offset);
            view.put(views.index(offset), block, 0, length);
        }
    }

    private static void load(Object memory, long offset, int[] block, Views views, int length) {
        if (memory instanceof int[] array) {
            System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
        } else {
            IntBuffer view = (IntBuffer) views.at((ByteBuffer) memory, offset);
            view.get(views.index(offset), block, 0, length);
        }
    }

    /** SUM; wraps. */
    static final class Sum extends IntKernel {
        @Override
        int combine(int left, int right) {
            return left + right;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] += right[i];
            }
        }
    }

    /** PRODUCT; wraps. */
    static final class Product extends IntKernel {
        @Override
        int combine(int left, int right) {
            return left * right;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] *= right[i];
            }
        }
    }

    /** MIN. */
    static final class Min extends IntKernel {
        @Override
        int combine(int left, int right) {
            return Math.min(left, right);
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.min(left[i], right[i]);
            }
        }
    }

    /** MAX. */
    static final class Max extends IntKernel {
        @Override
        int combine(int left, int right) {
            return Math.max(left, right);
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.max(left[i], right[i]);
            }
        }
    }

    /** MIN of unsigned elements. */
    static final class UnsignedMin extends IntKernel {
        @Override
        int combine(int left, int right) {
            return Math.min(left ^ SIGN, right ^ SIGN) ^ SIGN;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.min(left[i] ^ SIGN, right[i] ^ SIGN) ^ SIGN;
            }
        }
    }

    /** MAX of unsigned elements. */
    static final class UnsignedMax extends IntKernel {
        @Override
        int combine(int left, int right) {
            return Math.max(left ^ SIGN, right ^ SIGN) ^ SIGN;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.max(left[i] ^ SIGN, right[i] ^ SIGN) ^ SIGN;
            }
        }
    }

    /** BAND. */
    static final class And extends IntKernel {
        @Override
        int combine(int left, int right) {
            return left & right;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] &= right[i];
            }
        }
    }

    /** BOR. */
    static final class Or extends IntKernel {
        @Override
        int combine(int left, int right) {
            return left | right;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] |= right[i];
            }
        }
    }

    /** BXOR. */
    static final class ExclusiveOr extends IntKernel {
        @Override
        int combine(int left, int right) {
            return left ^ right;
        }

        @Override
        void combine(int[] left, int[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] ^= right[i];
            }
        }
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;

/** Kernels of i64 and u64: two's complement sums and multiplies both alike, only their order differs. */
abstract class LongKernel extends BlockKernel {
    private static final int BLOCK = BLOCK_BYTES / Long.BYTES;
    /** Flipping it makes the signed order the unsigned one; unlike a call of compareUnsigned, the loop is vectorised. */
    private static final long SIGN = Long.MIN_VALUE;

    private final long[] left = new long[BLOCK];
    private final long[] right = new long[BLOCK];
    private final Views intoViews = new Views(DataType.INT64);
    private final Views sourceViews = new Views(DataType.INT64);

    LongKernel() {
        super(DataType.INT64, BLOCK);
    }

    /** Combines blocks, whole. */
    abstract void combine(long[] left, long[] right);

    /** Combines two elements. */
    abstract long combine(long left, long right);

    @Override
    final void combineOne(Object into, long intoOffset, Object source, long sourceOffset) {
        long result = combine(one(into, intoOffset), one(source, sourceOffset));
        put(into, intoOffset, result);
    }

    private static long one(Object memory, long offset) {
        int at = Math.toIntExact(offset);
        return memory instanceof long[] array ? array[at] : ((ByteBuffer) memory).getLong(at);
    }

    private static void put(Object memory, long offset, long element) {
        int at = Math.toIntExact(offset);
        if (memory instanceof long[] array) {
            array[at] = element;
        } else {
            ((ByteBuffer) memory).putLong(at, element);
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

    private static void store(Object memory, long offset, long[] block, Views views, int length) {
        if (memory instanceof long[] array) {
            System.arraycopy(block, 0, array, Math.toIntExact(offset), length);
        } else {
            LongBuffer view = (LongBuffer) views.at((ByteBuffer) memory, offset);
            view.put(views.index(offset), block, 0, length);
        }
    }

    private static void load(Object memory, long offset, long[] block, Views views, int length) {
        if (memory instanceof long[] array) {
            System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
        } else {
            LongBuffer view = (LongBuffer) views.at((ByteBuffer) memory, offset);
            view.get(views.index(offset), block, 0, length);
        }
    }

    /** SUM; wraps. */
    static final class Sum extends LongKernel {
        @Override
        long combine(long left, long right) {
            return left + right;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] += right[i];
            }
        }
    }

    /** PRODUCT; wraps. */
    static final class Product extends LongKernel {
        @Override
        long combine(long left, long right) {
            return left * right;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] *= right[i];
            }
        }
    }

    /** MIN. */
    static final class Min extends LongKernel {
        @Override
        long combine(long left, long right) {
            return Math.min(left, right);
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.min(left[i], right[i]);
            }
        }
    }

    /** MAX. */
    static final class Max extends LongKernel {
        @Override
        long combine(long left, long right) {
            return Math.max(left, right);
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.max(left[i], right[i]);
            }
        }
    }

    /** MIN of unsigned elements. */
    static final class UnsignedMin extends LongKernel {
        @Override
        long combine(long left, long right) {
            return Math.min(left ^ SIGN, right ^ SIGN) ^ SIGN;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.min(left[i] ^ SIGN, right[i] ^ SIGN) ^ SIGN;
            }
        }
    }

    /** MAX of unsigned elements. */
    static final class UnsignedMax extends LongKernel {
        @Override
        long combine(long left, long right) {
            return Math.max(left ^ SIGN, right ^ SIGN) ^ SIGN;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = Math.max(left[i] ^ SIGN, right[i] ^ SIGN) ^ SIGN;
            }
        }
    }

    /** BAND. */
    static final class And extends LongKernel {
        @Override
        long combine(long left, long right) {
            return left & right;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] &= right[i];
            }
        }
    }

    /** BOR. */
    static final class Or extends LongKernel {
        @Override
        long combine(long left, long right) {
            return left | right;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] |= right[i];
            }
        }
    }

    /** BXOR. */
    static final class ExclusiveOr extends LongKernel {
        @Override
        long combine(long left, long right) {
            return left ^ right;
        }

        @Override
        void combine(long[] left, long[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] ^= right[i];
            }
        }
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;

/** Kernels of i16. */
abstract class ShortKernel extends BlockKernel {
    private static final int BLOCK = BLOCK_BYTES / Short.BYTES;

    private final short[] left = new short[BLOCK];
    private final short[] right = new short[BLOCK];
    private final Views intoViews = new Views(DataType.INT16);
    private final Views sourceViews = new Views(DataType.INT16);

    ShortKernel() {
        super(DataType.INT16, BLOCK);
    }

    /** Combines blocks, whole. */
    abstract void combine(short[] left, short[] right);

    /** Combines two elements. */
    abstract int combine(int left, int right);

    @Override
    final void combineOne(Object into, long intoOffset, Object source, long sourceOffset) {
        int result = combine(one(into, intoOffset), one(source, sourceOffset));
        put(into, intoOffset, (short) result);
    }

    static short one(Object memory, long offset) {
        int at = Math.toIntExact(offset);
        return memory instanceof short[] array ? array[at] : ((ByteBuffer) memory).getShort(at);
    }

    static void put(Object memory, long offset, short element) {
        int at = Math.toIntExact(offset);
        if (memory instanceof short[] array) {
            array[at] = element;
        } else {
            ((ByteBuffer) memory).putShort(at, element);
        }
    }

    @Override
    final void clear(int from, int length) {
        Arrays.fill(left, from, from + length, (short) 0);
        Arrays.fill(right, from, from + length, (short) 0);
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

    /** Copies the beginning of a block into a run of any 16-bit elements. */
    static void store(Object memory, long offset, short[] block, Views views, int length) {
        if (memory instanceof short[] array) {
            System.arraycopy(block, 0, array, Math.toIntExact(offset), length);
        } else {
            ShortBuffer view = (ShortBuffer) views.at((ByteBuffer) memory, offset);
            view.put(views.index(offset), block, 0, length);
        }
    }

    /** Copies a run of any 16-bit elements into the beginning of a block. */
    static void load(Object memory, long offset, short[] block, Views views, int length) {
        if (memory instanceof short[] array) {
            System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
        } else {
            ShortBuffer view = (ShortBuffer) views.at((ByteBuffer) memory, offset);
            view.get(views.index(offset), block, 0, length);
        }
    }

    /** SUM; wraps. */
    static final class Sum extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return left + right;
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (short) (left[i] + right[i]);
            }
        }
    }

    /** PRODUCT; wraps. */
    static final class Product extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return left * right;
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (short) (left[i] * right[i]);
            }
        }
    }

    /** MIN. */
    static final class Min extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return Math.min(left, right);
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (short) Math.min(left[i], right[i]);
            }
        }
    }

    /** MAX. */
    static final class Max extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return Math.max(left, right);
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (short) Math.max(left[i], right[i]);
            }
        }
    }

    /** BAND. */
    static final class And extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return left & right;
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] &= right[i];
            }
        }
    }

    /** BOR. */
    static final class Or extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return left | right;
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] |= right[i];
            }
        }
    }

    /** BXOR. */
    static final class ExclusiveOr extends ShortKernel {
        @Override
        int combine(int left, int right) {
            return left ^ right;
        }

        @Override
        void combine(short[] left, short[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] ^= right[i];
            }
        }
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Kernels of i8 and u8: two's complement sums and multiplies both alike, only their order differs. */
abstract class ByteKernel extends BlockKernel {
    private static final int BLOCK = BLOCK_BYTES / Byte.BYTES;
    /** Flipping it makes the signed order the unsigned one; unlike a call of compareUnsigned, the loop is vectorised. */
    private static final int SIGN = Byte.MIN_VALUE;

    private final byte[] left = new byte[BLOCK];
    private final byte[] right = new byte[BLOCK];
    private final Views intoViews = new Views(DataType.INT8);
    private final Views sourceViews = new Views(DataType.INT8);

    ByteKernel() {
        super(DataType.INT8, BLOCK);
    }

    /** Combines blocks, whole. */
    abstract void combine(byte[] left, byte[] right);

    /** Combines two elements. */
    abstract int combine(int left, int right);

    @Override
    final void combineOne(Object into, long intoOffset, Object source, long sourceOffset) {
        int result = combine(one(into, intoOffset), one(source, sourceOffset));
        put(into, intoOffset, (byte) result);
    }

    private static byte one(Object memory, long offset) {
        int at = Math.toIntExact(offset);
        return memory instanceof byte[] array ? array[at] : ((ByteBuffer) memory).get(at);
    }

    private static void put(Object memory, long offset, byte element) {
        int at = Math.toIntExact(offset);
        if (memory instanceof byte[] array) {
            array[at] = element;
        } else {
            ((ByteBuffer) memory).put(at, element);
        }
    }

    @Override
    final void clear(int from, int length) {
        Arrays.fill(left, from, from + length, (byte) 0);
        Arrays.fill(right, from, from + length, (byte) 0);
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

    private static void store(Object memory, long offset, byte[] block, Views views, int length) {
        if (memory instanceof byte[] array) {
            System.arraycopy(block, 0, array, Math.toIntExact(offset), length);
        } else {
            ByteBuffer view = (ByteBuffer) views.at((ByteBuffer) memory, offset);
            view.put(views.index(offset), block, 0, length);
        }
    }

    private static void load(Object memory, long offset, byte[] block, Views views, int length) {
        if (memory instanceof byte[] array) {
            System.arraycopy(array, Math.toIntExact(offset), block, 0, length);
        } else {
            ByteBuffer view = (ByteBuffer) views.at((ByteBuffer) memory, offset);
            view.get(views.index(offset), block, 0, length);
        }
    }

    /** SUM; wraps. */
    static final class Sum extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return left + right;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (byte) (left[i] + right[i]);
            }
        }
    }

    /** PRODUCT; wraps. */
    static final class Product extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return left * right;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (byte) (left[i] * right[i]);
            }
        }
    }

    /** MIN. */
    static final class Min extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return Math.min(left, right);
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (byte) Math.min(left[i], right[i]);
            }
        }
    }

    /** MAX. */
    static final class Max extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return Math.max(left, right);
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (byte) Math.max(left[i], right[i]);
            }
        }
    }

    /** MIN of unsigned elements. */
    static final class UnsignedMin extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return Math.min(left ^ SIGN, right ^ SIGN) ^ SIGN;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (byte) (Math.min(left[i] ^ SIGN, right[i] ^ SIGN) ^ SIGN);
            }
        }
    }

    /** MAX of unsigned elements. */
    static final class UnsignedMax extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return Math.max(left ^ SIGN, right ^ SIGN) ^ SIGN;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] = (byte) (Math.max(left[i] ^ SIGN, right[i] ^ SIGN) ^ SIGN);
            }
        }
    }

    /** BAND. */
    static final class And extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return left & right;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] &= right[i];
            }
        }
    }

    /** BOR. */
    static final class Or extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return left | right;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] |= right[i];
            }
        }
    }

    /** BXOR. */
    static final class ExclusiveOr extends ByteKernel {
        @Override
        int combine(int left, int right) {
            return left ^ right;
        }

        @Override
        void combine(byte[] left, byte[] right) {
            for (int i = 0; i < BLOCK; i++) {
                left[i] ^= right[i];
            }
        }
    }
}

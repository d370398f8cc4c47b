package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.ByteBuffer;

/** Kernels of i8. */
abstract class ByteKernel extends BlockKernel {
    private final byte[] left = new byte[BLOCK];
    private final byte[] right = new byte[BLOCK];
    private final Views intoViews = new Views(DataType.INT8);
    private final Views sourceViews = new Views(DataType.INT8);

    ByteKernel() {
        super(DataType.INT8.byteSize());
    }

    /** Combines blocks. */
    abstract void combine(byte[] left, byte[] right, int length);

    @Override
    final void loadInto(Object memory, long offset, int length) {
        load(memory, offset, left, intoViews, length);
    }

    @Override
    final void loadSource(Object memory, long offset, int length) {
        load(memory, offset, right, sourceViews, length);
    }

    @Override
    final void combineBlocks(int length) {
        combine(left, right, length);
    }

    @Override
    final void store(Object memory, long offset, int length) {
        if (memory instanceof byte[] array) {
            System.arraycopy(left, 0, array, Math.toIntExact(offset), length);
        } else {
            ByteBuffer view = (ByteBuffer) intoViews.at((ByteBuffer) memory, offset);
            view.put(intoViews.index(offset), left, 0, length);
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
        void combine(byte[] left, byte[] right, int length) {
            for (int i = 0; i < length; i++) {
                left[i] = (byte) (left[i] + right[i]);
            }
        }
    }

    /** PRODUCT; wraps. */
    static final class Product extends ByteKernel {
        @Override
        void combine(byte[] left, byte[] right, int length) {
            for (int i = 0; i < length; i++) {
                left[i] = (byte) (left[i] * right[i]);
            }
        }
    }

    /** MIN. */
    static final class Min extends ByteKernel {
        @Override
        void combine(byte[] left, byte[] right, int length) {
            for (int i = 0; i < length; i++) {
                left[i] = (byte) Math.min(left[i], right[i]);
            }
        }
    }

    /** MAX. */
    static final class Max extends ByteKernel {
        @Override
        void combine(byte[] left, byte[] right, int length) {
            for (int i = 0; i < length; i++) {
                left[i] = (byte) Math.max(left[i], right[i]);
            }
        }
    }
}

package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import java.nio.ByteBuffer;

/**
 * Copies elements multiplied by a factor: the first half of a sum of multiplied inputs. It works in blocks that it owns, for
 * the reasons that {@link BlockKernel} gives, so that only one thread at a time may use it. It keeps a reference to the
 * direct buffers that it saw last.
 */
public final class Multiplied {
    private final Product[] byType = new Product[DataType.values().length];

    /** Makes one that has no blocks yet; the first copy of each type makes those of the type. */
    public Multiplied() {
        // blocks are made by the first copies
    }

    /**
     * Copies elements multiplied by a factor; rounds each product once. f16 and bf16 are multiplied in f32; integers are
     * multiplied by a whole factor and wrap. Allocates nothing once it has copied this type.
     *
     * @param type         element type
     * @param factor       number to multiply by
     * @param into         where to: an array of the type or a direct buffer in native order
     * @param intoOffset   where the run begins in {@code into}: elements for an array, bytes for a buffer
     * @param source       where from, as {@code into}; the same run, or one that does not overlap with it
     * @param sourceOffset where the run begins in {@code source}
     * @param count        elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     * @throws ClassCastException        if a memory is neither of these
     */
    public void copy(
            DataType type, double factor, Object into, long intoOffset, Object source, long sourceOffset, long count) {
        Product product = byType[type.ordinal()];
        if (product == null) {
            product = new Product(type);
            byType[type.ordinal()] = product;
        }
        long intoUnit = into instanceof ByteBuffer ? type.byteSize() : 1;
        long sourceUnit = source instanceof ByteBuffer ? type.byteSize() : 1;
        for (long done = 0; done < count; done += product.block) {
            int length = (int) Math.min(product.block, count - done);
            product.load(source, sourceOffset + done * sourceUnit, length);
            product.multiply(factor);
            product.store(into, intoOffset + done * intoUnit, length);
        }
    }

    /** One block of elements. Loops run over the whole block, whatever is behind a short run. */
    private static final class Product {
        private final DataType type;
        private final Carrier carrier;
        private final int block;
        private final Object elements;
        /** Products of 16-bit floats in f32. */
        private final float[] products;

        private final Views intoViews;
        private final Views sourceViews;

        Product(DataType type) {
            this.type = type;
            this.carrier = type.carrier();
            this.block = BlockKernel.BLOCK_BYTES / type.byteSize();
            this.elements = carrier.newArray(block);
            this.products = new float[carrier == Carrier.SHORT && type.isFloating() ? block : 0];
            this.intoViews = new Views(type);
            this.sourceViews = new Views(type);
        }

        void load(Object memory, long offset, int length) {
            if (memory instanceof ByteBuffer bytes) {
                carrier.get(sourceViews.at(bytes, offset), sourceViews.index(offset), elements, 0, length);
            } else {
                System.arraycopy(memory, Math.toIntExact(offset), elements, 0, length);
            }
        }

        void multiply(double factor) {
            switch (carrier) {
                case FLOAT -> multiply((float[]) elements, (float) factor);
                case DOUBLE -> multiply((double[]) elements, factor);
                case LONG -> multiply((long[]) elements, (long) factor);
                // the lower bits of a product depend on the lower bits of its factors alone
                case INT -> multiply((int[]) elements, (int) (long) factor);
                case SHORT -> multiply((short[]) elements, factor);
                case BYTE -> multiply((byte[]) elements, (int) (long) factor);
            }
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

        private static void multiply(long[] elements, long factor) {
            for (int i = 0; i < elements.length; i++) {
                elements[i] *= factor;
            }
        }

        private static void multiply(int[] elements, int factor) {
            for (int i = 0; i < elements.length; i++) {
                elements[i] *= factor;
            }
        }

        private void multiply(short[] elements, double factor) {
            if (type == DataType.FLOAT16) {
                Float16Kernel.multiply(elements, (float) factor, products);
            } else if (type == DataType.BFLOAT16) {
                Bfloat16Kernel.multiply(elements, (float) factor, products);
            } else {
                multiply(elements, (int) (long) factor);
            }
        }

        private static void multiply(short[] elements, int factor) {
            for (int i = 0; i < elements.length; i++) {
                elements[i] = (short) (elements[i] * factor);
            }
        }

        private static void multiply(byte[] elements, int factor) {
            for (int i = 0; i < elements.length; i++) {
                elements[i] = (byte) (elements[i] * factor);
            }
        }

        void store(Object memory, long offset, int length) {
            if (memory instanceof ByteBuffer bytes) {
                carrier.put(intoViews.at(bytes, offset), intoViews.index(offset), elements, 0, length);
            } else {
                System.arraycopy(elements, 0, memory, Math.toIntExact(offset), length);
            }
        }
    }
}

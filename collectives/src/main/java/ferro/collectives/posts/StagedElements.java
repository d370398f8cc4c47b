package ferro.collectives.posts;

import ferro.DataType;
import ferro.collectives.reduce.Elements;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/**
 * Copies elements between tensors and one memory of a medium. Bulk copies of arrays need a typed view of the memory; those are
 * kept here, one per type and alignment, so that nothing is allocated per piece.
 */
public final class StagedElements {
    private static final int ALIGNMENTS = Long.BYTES;

    private final ByteBuffer bytes;
    private final Buffer[] views = new Buffer[DataType.values().length * ALIGNMENTS];

    /**
     * Makes one for a memory.
     *
     * @param bytes direct, in native order
     */
    public StagedElements(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /**
     * Copies elements of a tensor to the medium's memory.
     *
     * @param post  whose elements
     * @param place where they lie, as {@link Post#place} says
     * @param at    first byte in the medium's memory, of any alignment
     * @param count elements
     */
    public void write(Post post, long place, int at, int count) {
        DataType type = post.type();
        if (post.memory() instanceof ByteBuffer) {
            Elements.copy(type, bytes, at, post.memory(), place, count);
            return;
        }
        int from = (int) place;
        int to = at / type.byteSize();
        Buffer view = view(type, at);
        if (post.memory() instanceof float[] array) {
            ((FloatBuffer) view).put(to, array, from, count);
        } else if (post.memory() instanceof double[] array) {
            ((DoubleBuffer) view).put(to, array, from, count);
        } else if (post.memory() instanceof int[] array) {
            ((IntBuffer) view).put(to, array, from, count);
        } else if (post.memory() instanceof long[] array) {
            ((LongBuffer) view).put(to, array, from, count);
        } else if (post.memory() instanceof short[] array) {
            ((ShortBuffer) view).put(to, array, from, count);
        } else {
            bytes.put(at, (byte[]) post.memory(), from, count);
        }
    }

    /**
     * Copies elements of the medium's memory to a tensor.
     *
     * @param post  whose elements
     * @param place where they belong, as {@link Post#place} says
     * @param at    first byte in the medium's memory, of any alignment
     * @param count elements
     */
    public void read(Post post, long place, int at, int count) {
        DataType type = post.type();
        if (post.memory() instanceof ByteBuffer) {
            Elements.copy(type, post.memory(), place, bytes, at, count);
            return;
        }
        int to = (int) place;
        int from = at / type.byteSize();
        Buffer view = view(type, at);
        if (post.memory() instanceof float[] array) {
            ((FloatBuffer) view).get(from, array, to, count);
        } else if (post.memory() instanceof double[] array) {
            ((DoubleBuffer) view).get(from, array, to, count);
        } else if (post.memory() instanceof int[] array) {
            ((IntBuffer) view).get(from, array, to, count);
        } else if (post.memory() instanceof long[] array) {
            ((LongBuffer) view).get(from, array, to, count);
        } else if (post.memory() instanceof short[] array) {
            ((ShortBuffer) view).get(from, array, to, count);
        } else {
            bytes.get(at, (byte[]) post.memory(), to, count);
        }
    }

    /** Returns the view in which an element starts at this byte, or null for bytes, which need none. */
    private Buffer view(DataType type, int at) {
        int phase = at % type.byteSize();
        int slot = type.ordinal() * ALIGNMENTS + phase;
        Buffer known = views[slot];
        if (known == null && type.byteSize() > 1) {
            known = typed(type, bytes.duplicate().clear().position(phase).order(ByteOrder.nativeOrder()));
            views[slot] = known;
        }
        return known;
    }

    private static Buffer typed(DataType type, ByteBuffer from) {
        return switch (type) {
            case FLOAT32 -> from.asFloatBuffer();
            case FLOAT64 -> from.asDoubleBuffer();
            case INT32, UINT32 -> from.asIntBuffer();
            case INT64, UINT64 -> from.asLongBuffer();
            case INT16, FLOAT16, BFLOAT16 -> from.asShortBuffer();
            case INT8, UINT8 -> from;
        };
    }
}

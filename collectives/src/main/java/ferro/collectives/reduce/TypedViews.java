package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * Typed views of one direct buffer, with methods that copy elements between the buffer and other memory. Bulk copies of
 * arrays need a typed view. Each carrier and alignment has one view, which is kept, so that only the first copy
 * allocates memory. A copy neither reads nor changes position, limit and byte order of the buffer. One thread at a time
 * may use the views.
 */
public final class TypedViews {
    private static final int ALIGNMENTS = Long.BYTES;
    private static final int FLOAT_SHIFT = 2;
    /**
     * Number of elements up to which a loop over f32 is faster than a bulk copy. For one element the loop takes 3 ns,
     * the bulk copy 5 ns.
     */
    private static final int FEW = 4;

    /** All bytes of the buffer, in native order. */
    final ByteBuffer bytes;
    /** View for aligned elements. */
    private final FloatBuffer floats;

    private final Buffer[] views = new Buffer[Carrier.values().length * ALIGNMENTS];
    /** View of the buffer for the loops of the Vector API; null until a loop needs the view. */
    Object forVectors;

    /**
     * Makes the views of a buffer.
     *
     * @param bytes direct buffer
     */
    public TypedViews(ByteBuffer bytes) {
        this.bytes = bytes.duplicate().clear().order(ByteOrder.nativeOrder());
        this.floats = (FloatBuffer) view(Carrier.FLOAT, 0);
    }

    /** Returns all bytes of the buffer, in native order. Callers read and write only by absolute index. */
    public ByteBuffer bytes() {
        return bytes;
    }

    /**
     * Copies elements to the buffer.
     *
     * @param type   type of the elements
     * @param at     first byte in the buffer, of any alignment
     * @param source array of the type, or direct buffer in native order
     * @param place  position of the first element: an index for an array, bytes for a buffer
     * @param count  number of elements
     */
    public void write(DataType type, int at, Object source, long place, int count) {
        int from = (int) place;
        if (source instanceof float[] elements) {
            write(at, elements, from, count);
        } else if (source instanceof ByteBuffer other) {
            bytes.put(at, other, from, count * type.byteSize());
        } else {
            Carrier carrier = type.carrier();
            carrier.put(view(carrier, at), index(carrier, at), source, from, count);
        }
    }

    /**
     * Copies elements of the buffer to other memory.
     *
     * @param type  type of the elements
     * @param at    first byte in the buffer, of any alignment
     * @param into  array of the type, or direct buffer in native order
     * @param place position for the first element: an index for an array, bytes for a buffer
     * @param count number of elements
     */
    public void read(DataType type, int at, Object into, long place, int count) {
        int to = (int) place;
        if (into instanceof float[] elements) {
            read(at, elements, to, count);
        } else if (into instanceof ByteBuffer other) {
            other.put(to, bytes, at, count * type.byteSize());
        } else {
            Carrier carrier = type.carrier();
            carrier.get(view(carrier, at), index(carrier, at), into, to, count);
        }
    }

    /** Writes f32 elements by a separate path, because most programs send f32. The path saves 2 to 5 ns per copy. */
    private void write(int at, float[] source, int from, int count) {
        if (count > FEW) {
            floats(at).put(at >> FLOAT_SHIFT, source, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            bytes.putFloat(at + i * Float.BYTES, source[from + i]);
        }
    }

    private void read(int at, float[] into, int to, int count) {
        if (count > FEW) {
            floats(at).get(at >> FLOAT_SHIFT, into, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            into[to + i] = bytes.getFloat(at + i * Float.BYTES);
        }
    }

    private FloatBuffer floats(int at) {
        return (at & Float.BYTES - 1) == 0 ? floats : (FloatBuffer) view(Carrier.FLOAT, at);
    }

    /** Returns the view in which an element starts at byte {@code at}. */
    Buffer view(Carrier carrier, int at) {
        int phase = at & carrier.byteSize() - 1;
        int slot = carrier.ordinal() * ALIGNMENTS + phase;
        Buffer known = views[slot];
        if (known == null) {
            known = carrier.view(bytes.duplicate().position(phase).order(ByteOrder.nativeOrder()));
            views[slot] = known;
        }
        return known;
    }

    /** Returns the index in {@link #view} of the element that starts at byte {@code at}. */
    private static int index(Carrier carrier, int at) {
        return at >> Integer.numberOfTrailingZeros(carrier.byteSize());
    }
}

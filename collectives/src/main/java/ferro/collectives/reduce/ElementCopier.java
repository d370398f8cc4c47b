package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * A copier of runs of elements. The copier keeps the {@link TypedViews} of the direct buffers of the last calls,
 * because new views for each call would allocate on the hot path. All references are weak, so that memory that the
 * caller no longer uses can be collected. A run in a buffer may begin at any byte. One thread at a time may use a
 * copier.
 */
public final class ElementCopier {
    /**
     * Number of buffers whose views are kept. Most ranks have fewer peers on their host. A program that uses one buffer
     * more than {@code KEPT} allocates on each call.
     */
    private static final int KEPT = 32;

    private final CachedViews[] kept = new CachedViews[KEPT];
    private CachedViews last;
    private int next;

    private static final class CachedViews extends WeakReference<ByteBuffer> {
        private WeakReference<TypedViews> views;

        CachedViews(ByteBuffer bytes) {
            super(bytes);
        }
    }

    /** Makes a copier without any view. */
    public ElementCopier() {}

    /**
     * Copies elements, unless source and target are the same memory.
     *
     * @param into     target tensor
     * @param to       index of the first element in {@code into}
     * @param source   source tensor of the same type; may overlap the target only if both ranges are identical
     * @param from     index of the first element in {@code source}
     * @param elements number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public void copy(HostTensor into, long to, HostTensor source, long from, long elements) {
        for (long done = 0; done < elements; ) {
            Object target = TensorMemory.memoryAt(into, to + done);
            Object given = TensorMemory.memoryAt(source, from + done);
            long at = TensorMemory.offsetAt(into, to + done);
            long givenAt = TensorMemory.offsetAt(source, from + done);
            long length = run(into, to + done, source, from + done, elements - done);
            if (length == 0) {
                throw new IndexOutOfBoundsException(elements + " elements from " + from + " of " + source + " to " + to
                        + " of " + into + ": one of the tensors ends after " + done);
            }
            if (target != given || at != givenAt) {
                copy(into.dataType(), target, at, given, givenAt, length);
            }
            done += length;
        }
    }

    /** Returns how many of the next elements are in one array or buffer of each of two tensors. */
    static long run(HostTensor one, long at, HostTensor other, long otherAt, long elements) {
        return Math.min(elements, Math.min(TensorMemory.runAt(one, at), TensorMemory.runAt(other, otherAt)));
    }

    /**
     * Copies elements unchanged. The two runs may be in one array or buffer and may overlap.
     *
     * @param type         element type
     * @param into         array of the type or direct buffer in native order
     * @param intoOffset   where the run begins in {@code into}: an index for an array, bytes for a buffer
     * @param source       array or direct buffer, with the same requirements as {@code into}
     * @param sourceOffset where the run begins in {@code source}
     * @param count        number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public void copy(DataType type, Object into, long intoOffset, Object source, long sourceOffset, long count) {
        if (count == 0) {
            return;
        }
        int length = Math.toIntExact(count);
        int to = Math.toIntExact(intoOffset);
        int from = Math.toIntExact(sourceOffset);
        if (source instanceof ByteBuffer other && into instanceof ByteBuffer bytes) {
            bytes.put(to, other, from, length * type.byteSize());
        } else if (into instanceof ByteBuffer bytes) {
            views(bytes).write(type, to, source, from, length);
        } else if (source instanceof ByteBuffer bytes) {
            views(bytes).read(type, from, into, to, length);
        } else {
            System.arraycopy(source, from, into, to, length);
        }
    }

    /** Returns the views of a buffer. */
    TypedViews views(ByteBuffer bytes) {
        CachedViews buffer = last;
        if (buffer == null || !buffer.refersTo(bytes)) {
            buffer = of(bytes);
            last = buffer;
        }
        TypedViews views = buffer.views == null ? null : buffer.views.get();
        if (views == null) {
            views = new TypedViews(bytes);
            buffer.views = new WeakReference<>(views);
        }
        return views;
    }

    private CachedViews of(ByteBuffer bytes) {
        for (CachedViews buffer : kept) {
            if (buffer != null && buffer.refersTo(bytes)) {
                return buffer;
            }
        }
        next = (next + 1) % KEPT;
        kept[next] = new CachedViews(bytes);
        return kept[next];
    }
}

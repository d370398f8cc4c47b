package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import java.lang.ref.WeakReference;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Typed views of the direct buffers of the last calls. Bulk reads and writes need a view, and a new view for each call
 * would allocate on the hot path. A view covers the full capacity of a buffer, from a first position that is smaller
 * than an element. Each such first position has its own view, so a run may begin at any byte.
 *
 * <p>All references are weak, so that memory that the caller no longer uses can be collected.
 */
final class Views {
    /** Number of buffers kept, which is the usual number of peers on a host. */
    private static final int KEPT = 8;

    private final Carrier carrier;
    private final int byteSize;
    private final KeptBuffer[] kept = new KeptBuffer[KEPT];
    private KeptBuffer last;
    private int next;

    /** A buffer and its views, by position of the first element modulo the element size. */
    private static final class KeptBuffer extends WeakReference<ByteBuffer> {
        private final View[] byPhase;

        KeptBuffer(ByteBuffer bytes, int byteSize) {
            super(bytes);
            this.byPhase = new View[byteSize];
        }
    }

    private static final class View extends WeakReference<Buffer> {
        View(Buffer view) {
            super(view);
        }
    }

    Views(DataType type) {
        this.carrier = type.carrier();
        this.byteSize = type.byteSize();
    }

    /** Returns the view in which {@code offset} is the start of an element. */
    Buffer at(ByteBuffer bytes, long offset) {
        KeptBuffer buffer = last;
        if (buffer == null || !buffer.refersTo(bytes)) {
            buffer = of(bytes);
            last = buffer;
        }
        int phase = (int) (offset % byteSize);
        View known = buffer.byPhase[phase];
        Buffer view = known == null ? null : known.get();
        if (view == null) {
            ByteBuffer from = bytes.duplicate().clear().position(phase).order(ByteOrder.nativeOrder());
            view = carrier.view(from);
            buffer.byPhase[phase] = new View(view);
        }
        return view;
    }

    /** Returns the index of the element at {@code offset} in the view that {@link #at} returns. */
    int index(long offset) {
        return (int) (offset / byteSize);
    }

    private KeptBuffer of(ByteBuffer bytes) {
        for (KeptBuffer buffer : kept) {
            if (buffer != null && buffer.refersTo(bytes)) {
                return buffer;
            }
        }
        KeptBuffer made = new KeptBuffer(bytes, byteSize);
        kept[next] = made;
        next = (next + 1) % KEPT;
        return made;
    }
}

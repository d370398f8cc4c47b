package ferro.collectives.reduce;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * Views of the direct buffers of the last calls. A new view for each call would allocate on the hot path. All references
 * are weak, so that memory that the caller no longer uses can be collected.
 */
abstract class BufferViews {
    /** Number of buffers kept, which is more than the usual number of peers on a host: one buffer more allocates each time. */
    private static final int KEPT = 32;

    private final int slots;
    private final KeptBuffer[] kept = new KeptBuffer[KEPT];
    private KeptBuffer last;
    private int next;

    private static final class KeptBuffer extends WeakReference<ByteBuffer> {
        private final WeakReference<?>[] views;

        KeptBuffer(ByteBuffer bytes, int slots) {
            super(bytes);
            this.views = new WeakReference<?>[slots];
        }
    }

    /** Keeps up to so many views of each buffer. */
    BufferViews(int slots) {
        this.slots = slots;
    }

    /** Makes the view of a buffer that a slot is for, from the full capacity of the buffer. */
    abstract Object make(ByteBuffer bytes, int slot);

    /** Returns a view of a buffer. */
    final Object view(ByteBuffer bytes, int slot) {
        KeptBuffer buffer = last;
        if (buffer == null || !buffer.refersTo(bytes)) {
            buffer = of(bytes);
            last = buffer;
        }
        WeakReference<?> known = buffer.views[slot];
        Object view = known == null ? null : known.get();
        if (view == null) {
            view = make(bytes, slot);
            buffer.views[slot] = new WeakReference<>(view);
        }
        return view;
    }

    private KeptBuffer of(ByteBuffer bytes) {
        for (KeptBuffer buffer : kept) {
            if (buffer != null && buffer.refersTo(bytes)) {
                return buffer;
            }
        }
        next = (next + 1) % KEPT;
        kept[next] = new KeptBuffer(bytes, slots);
        return kept[next];
    }
}

package ferro.collectives.reduce;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * Views of the buffers of the last calls. A new view for each call would allocate on the hot path. All references are
 * weak, so that memory that the caller no longer uses can be collected.
 */
final class Directs {
    /** Number of views kept, which is the usual number of peers on a host. */
    private static final int KEPT = 8;

    private final DirectView[] kept = new DirectView[KEPT];
    private int next;

    private static final class DirectView extends WeakReference<ByteBuffer> {
        private final WeakReference<Object> view;

        DirectView(ByteBuffer bytes, Object view) {
            super(bytes);
            this.view = new WeakReference<>(view);
        }
    }

    /** Returns a view of the full capacity of a buffer. */
    Object of(ByteBuffer bytes) {
        for (int i = 0; i < KEPT; i++) {
            if (kept[i] != null && kept[i].refersTo(bytes)) {
                Object view = kept[i].view.get();
                return view == null ? keep(bytes, i) : view;
            }
        }
        next = (next + 1) % KEPT;
        return keep(bytes, next);
    }

    private Object keep(ByteBuffer bytes, int slot) {
        Object view = Direct.of(bytes);
        kept[slot] = new DirectView(bytes, view);
        return view;
    }
}

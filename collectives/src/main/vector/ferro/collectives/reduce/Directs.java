package ferro.collectives.reduce;

import java.nio.ByteBuffer;

/** Views of the buffers seen last: making one anew for each call would allocate on the hot path. */
final class Directs {
    /** As many as the peers of a host usually are. */
    private static final int KEPT = 8;

    private final ByteBuffer[] owners = new ByteBuffer[KEPT];
    private final Object[] views = new Object[KEPT];
    private int next;

    /** Returns a view of a whole buffer, whatever its limit. */
    Object of(ByteBuffer bytes) {
        for (int i = 0; i < KEPT; i++) {
            if (owners[i] == bytes) {
                return views[i];
            }
        }
        return keep(bytes);
    }

    private Object keep(ByteBuffer bytes) {
        Object view = Direct.of(bytes);
        owners[next] = bytes;
        views[next] = view;
        next = (next + 1) % KEPT;
        return view;
    }
}

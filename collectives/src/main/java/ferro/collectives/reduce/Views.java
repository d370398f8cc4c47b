package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Typed views of the direct buffers seen last. Bulk reads and writes need a view, and making a new one each time would
 * allocate on the hot path. A view covers the whole buffer, whatever its limit, from one of the positions below the size
 * of an element, so that runs of any alignment have a view.
 */
final class Views {
    /** Number of buffers kept: as many as a host usually has peers. */
    private static final int KEPT = 8;

    private final Carrier carrier;
    private final int byteSize;
    private final ByteBuffer[] owners = new ByteBuffer[KEPT];
    private final Buffer[] byOwnerAndPhase;
    private int last;
    private int next;

    Views(DataType type) {
        this.carrier = type.carrier();
        this.byteSize = type.byteSize();
        this.byOwnerAndPhase = new Buffer[KEPT * byteSize];
    }

    /** Returns the view in which {@code offset} is the start of an element. */
    Buffer at(ByteBuffer bytes, long offset) {
        if (owners[last] != bytes) {
            last = slotOf(bytes);
        }
        int phase = (int) (offset % byteSize);
        int place = last * byteSize + phase;
        Buffer view = byOwnerAndPhase[place];
        if (view == null) {
            ByteBuffer from = bytes.duplicate().clear().position(phase).order(ByteOrder.nativeOrder());
            view = carrier.view(from);
            byOwnerAndPhase[place] = view;
        }
        return view;
    }

    /** Returns the index of the element at {@code offset} in the view that {@link #at} returns. */
    int index(long offset) {
        return (int) (offset / byteSize);
    }

    private int slotOf(ByteBuffer bytes) {
        for (int slot = 0; slot < KEPT; slot++) {
            if (owners[slot] == bytes) {
                return slot;
            }
        }
        int slot = next;
        next = (next + 1) % KEPT;
        owners[slot] = bytes;
        Arrays.fill(byOwnerAndPhase, slot * byteSize, (slot + 1) * byteSize, null);
        return slot;
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Typed views of the direct buffer seen last: bulk reads and writes need one, and making it anew each time would
 * allocate on the hot path. A view covers the whole buffer, whatever its limit, from one of the positions below the
 * size of an element, so that runs of any alignment have one.
 */
final class Views {
    private final DataType type;
    private final Buffer[] byPhase;
    private ByteBuffer owner;

    Views(DataType type) {
        this.type = type;
        this.byPhase = new Buffer[type.byteSize()];
    }

    /** Returns the view in which {@code offset} is the start of an element. */
    Buffer at(ByteBuffer bytes, long offset) {
        if (bytes != owner) {
            Arrays.fill(byPhase, null);
            owner = bytes;
        }
        int phase = (int) (offset % byPhase.length);
        Buffer view = byPhase[phase];
        if (view == null) {
            view = typed(type, bytes.duplicate().clear().position(phase));
            byPhase[phase] = view;
        }
        return view;
    }

    /** Returns the index in {@link #at}'s view of the element at {@code offset}. */
    int index(long offset) {
        return (int) (offset / byPhase.length);
    }

    /** Returns a view of a buffer from its position on. */
    static Buffer typed(DataType type, ByteBuffer bytes) {
        ByteBuffer ordered = bytes.order(ByteOrder.nativeOrder());
        return switch (type) {
            case FLOAT32 -> ordered.asFloatBuffer();
            case FLOAT64 -> ordered.asDoubleBuffer();
            case INT32, UINT32 -> ordered.asIntBuffer();
            case INT64, UINT64 -> ordered.asLongBuffer();
            case INT16, FLOAT16, BFLOAT16 -> ordered.asShortBuffer();
            case INT8, UINT8 -> ordered;
        };
    }
}

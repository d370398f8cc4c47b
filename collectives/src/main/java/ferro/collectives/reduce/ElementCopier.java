package ferro.collectives.reduce;

import ferro.Carrier;
import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A copier of runs of elements. The copier keeps the views that copies between arrays and direct buffers need, so only
 * the first copy of a buffer allocates. A run in a buffer may begin at any byte: each first byte modulo the size of an
 * element has its own view. One thread at a time may use a copier.
 */
public final class ElementCopier extends BufferViews {
    private static final Carrier[] CARRIERS = Carrier.values();
    private static final int PHASES = Long.BYTES;

    /** Makes a copier without any view. */
    public ElementCopier() {
        super(CARRIERS.length * PHASES);
    }

    /**
     * Copies elements, unless source and target are the same memory.
     *
     * @param into     target tensor
     * @param to       index of the first element
     * @param source   source tensor of the same type; may overlap the target only if both ranges are identical
     * @param from     index of the first element
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

    /** Returns how many of the next elements of both tensors are each in one array or buffer. */
    static long run(HostTensor one, long at, HostTensor other, long otherAt, long elements) {
        return Math.min(elements, Math.min(TensorMemory.runAt(one, at), TensorMemory.runAt(other, otherAt)));
    }

    /**
     * Copies elements unchanged. The two runs may be in one array or buffer and may overlap.
     *
     * @param type         element type
     * @param into         array of the type or direct buffer in native order
     * @param intoOffset   where the run begins in {@code into}: an index for an array, bytes for a buffer
     * @param source       array or direct buffer, as {@code into}
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
        if (into instanceof ByteBuffer bytes) {
            if (source instanceof ByteBuffer other) {
                bytes.put(to, other, from, length * type.byteSize());
            } else {
                Carrier carrier = type.carrier();
                carrier.put(view(carrier, bytes, to), index(carrier, to), source, from, length);
            }
        } else if (source instanceof ByteBuffer bytes) {
            Carrier carrier = type.carrier();
            carrier.get(view(carrier, bytes, from), index(carrier, from), into, to, length);
        } else {
            System.arraycopy(source, from, into, to, length);
        }
    }

    /** Returns the view in which an element starts at a byte of a buffer. */
    Buffer view(Carrier carrier, ByteBuffer bytes, int at) {
        return (Buffer) view(bytes, carrier.ordinal() * PHASES + (at & carrier.byteSize() - 1));
    }

    /** Returns the index in {@link #view} of the element that starts at a byte. */
    private static int index(Carrier carrier, int at) {
        return at >> Integer.numberOfTrailingZeros(carrier.byteSize());
    }

    @Override
    Object make(ByteBuffer bytes, int slot) {
        ByteBuffer from = bytes.duplicate().clear().position(slot % PHASES).order(ByteOrder.nativeOrder());
        return CARRIERS[slot / PHASES].view(from);
    }
}

package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import ferro.TensorMemory;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * A copier that works as {@link Elements#copy} does. The copier keeps the views that copies between arrays and direct
 * buffers need, because scratch memory is the same in every copy. One thread at a time may use a copier.
 */
public final class Copies {
    private final Views[] byType = new Views[DataType.values().length];

    /** Makes a copier without any view. */
    public Copies() {
        // views are made by the first copies
    }

    /**
     * Copies elements, unless source and target are the same memory.
     *
     * @param into     target tensor
     * @param to       index of the first element
     * @param source   source tensor of the same type
     * @param from     index of the first element
     * @param elements number of elements
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public void copy(HostTensor into, long to, HostTensor source, long from, long elements) {
        if (TensorMemory.hasParts(into) || TensorMemory.hasParts(source)) {
            if (TensorMemory.memoryAt(into, to) != TensorMemory.memoryAt(source, from)
                    || TensorMemory.offsetAt(into, to) != TensorMemory.offsetAt(source, from)) {
                Elements.copy(into, to, source, from, elements);
            }
            return;
        }
        DataType type = into.dataType();
        Object target = into.memory();
        Object given = source.memory();
        long targetAt = Elements.at(into, to);
        long givenAt = Elements.at(source, from);
        if (elements == 0 || target == given && targetAt == givenAt) {
            return;
        }
        boolean writes = target instanceof ByteBuffer;
        if (writes == given instanceof ByteBuffer) {
            Elements.copy(type, target, targetAt, given, givenAt, elements);
            return;
        }
        Views views = views(type);
        int length = Math.toIntExact(elements);
        if (writes) {
            Buffer view = views.at((ByteBuffer) target, targetAt);
            type.carrier().put(view, views.index(targetAt), given, Math.toIntExact(givenAt), length);
        } else {
            Buffer view = views.at((ByteBuffer) given, givenAt);
            type.carrier().get(view, views.index(givenAt), target, Math.toIntExact(targetAt), length);
        }
    }

    private Views views(DataType type) {
        Views known = byType[type.ordinal()];
        if (known == null) {
            known = new Views(type);
            byType[type.ordinal()] = known;
        }
        return known;
    }
}

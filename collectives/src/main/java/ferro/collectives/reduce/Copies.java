package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Copies as {@link Elements#copy} does, and keeps the views that copies between arrays and direct buffers need: scratch
 * memory is the same every time. For one thread at a time.
 */
public final class Copies {
    private final Views[] byType = new Views[DataType.values().length];

    /** Makes one that keeps nothing yet. */
    public Copies() {
        // views are made by the first copies
    }

    /**
     * Copies elements, unless source and target are the same place.
     *
     * @param into     where to
     * @param to       first element there
     * @param source   where from, of the same type
     * @param from     first element there
     * @param elements how many
     * @throws IndexOutOfBoundsException if a run is not inside its memory
     */
    public void copy(HostTensor into, long to, HostTensor source, long from, long elements) {
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

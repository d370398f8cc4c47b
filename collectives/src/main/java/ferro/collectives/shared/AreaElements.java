package ferro.collectives.shared;

import ferro.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/** Copies elements between the caller's memory and an area; its views of the area are made once. */
final class AreaElements {
    /** Below this a loop is faster than a bulk copy. */
    private static final int FEW = 16;

    private final ByteBuffer area;
    private final FloatBuffer floats;
    private final DoubleBuffer doubles;
    private final IntBuffer ints;
    private final LongBuffer longs;
    private final ShortBuffer shorts;

    AreaElements(ByteBuffer area) {
        this.area = area;
        ByteBuffer whole = area.duplicate().clear().order(ByteOrder.nativeOrder());
        this.floats = whole.asFloatBuffer();
        this.doubles = whole.asDoubleBuffer();
        this.ints = whole.asIntBuffer();
        this.longs = whole.asLongBuffer();
        this.shorts = whole.asShortBuffer();
    }

    /** Copies into the area. */
    void write(DataType type, int at, Object source, long place, int count) {
        int from = (int) place;
        if (source instanceof float[] array) {
            write(at, array, from, count);
        } else if (source instanceof ByteBuffer bytes) {
            area.put(at, bytes, from, count * type.byteSize());
        } else if (source instanceof double[] array) {
            doubles.put(at / Double.BYTES, array, from, count);
        } else if (source instanceof int[] array) {
            ints.put(at / Integer.BYTES, array, from, count);
        } else if (source instanceof long[] array) {
            longs.put(at / Long.BYTES, array, from, count);
        } else if (source instanceof short[] array) {
            shorts.put(at / Short.BYTES, array, from, count);
        } else {
            area.put(at, (byte[]) source, from, count);
        }
    }

    /** Copies out of the area. */
    void read(DataType type, int at, Object into, long place, int count) {
        int to = (int) place;
        if (into instanceof float[] array) {
            read(at, array, to, count);
        } else if (into instanceof ByteBuffer bytes) {
            bytes.put(to, area, at, count * type.byteSize());
        } else if (into instanceof double[] array) {
            doubles.get(at / Double.BYTES, array, to, count);
        } else if (into instanceof int[] array) {
            ints.get(at / Integer.BYTES, array, to, count);
        } else if (into instanceof long[] array) {
            longs.get(at / Long.BYTES, array, to, count);
        } else if (into instanceof short[] array) {
            shorts.get(at / Short.BYTES, array, to, count);
        } else {
            area.get(at, (byte[]) into, to, count);
        }
    }

    private void write(int at, float[] source, int from, int count) {
        if (count > FEW) {
            floats.put(at / Float.BYTES, source, from, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            area.putFloat(at + i * Float.BYTES, source[from + i]);
        }
    }

    private void read(int at, float[] into, int to, int count) {
        if (count > FEW) {
            floats.get(at / Float.BYTES, into, to, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            into[to + i] = area.getFloat(at + i * Float.BYTES);
        }
    }
}

package ferro.collectives.reduce;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jdk.incubator.vector.Vector;
import jdk.incubator.vector.VectorSpecies;

/** Vectors in direct buffers, by memory segments, which are final since 22. */
final class Direct {
    /** Oldest and newest JDK that have what this class calls. */
    static final int FIRST_JDK = 22;

    static final int LAST_JDK = Integer.MAX_VALUE;
    static final String BY = "memory segments";

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private Direct() {}

    /** Returns a view of a whole buffer, whatever its limit. */
    static Object of(ByteBuffer bytes) {
        return MemorySegment.ofBuffer(bytes.duplicate().clear());
    }

    static Vector<?> load(VectorSpecies<?> species, Object view, long at) {
        return species.fromMemorySegment((MemorySegment) view, at, ORDER);
    }

    static void store(Vector<?> vector, Object view, long at) {
        vector.intoMemorySegment((MemorySegment) view, at, ORDER);
    }
}

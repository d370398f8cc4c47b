package ferro.collectives.reduce;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.Vector;
import jdk.incubator.vector.VectorSpecies;

/** Vectors in direct buffers, by methods that the Vector API had up to 18. */
final class Direct {
    /** Oldest and newest JDK that have what this class calls. */
    static final int FIRST_JDK = 17;

    static final int LAST_JDK = 18;
    static final String BY = "byte buffers";

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private Direct() {}

    /** Returns a view of a whole buffer, whatever its limit. */
    static Object of(ByteBuffer bytes) {
        return bytes.duplicate().clear().order(ORDER);
    }

    static Vector<?> load(VectorSpecies<?> species, Object view, long at) {
        ByteBuffer bytes = (ByteBuffer) view;
        Class<?> element = species.elementType();
        if (element == float.class) {
            return FloatVector.fromByteBuffer(species.check(float.class), bytes, (int) at, ORDER);
        } else if (element == double.class) {
            return DoubleVector.fromByteBuffer(species.check(double.class), bytes, (int) at, ORDER);
        } else if (element == int.class) {
            return IntVector.fromByteBuffer(species.check(int.class), bytes, (int) at, ORDER);
        } else if (element == long.class) {
            return LongVector.fromByteBuffer(species.check(long.class), bytes, (int) at, ORDER);
        } else if (element == short.class) {
            return ShortVector.fromByteBuffer(species.check(short.class), bytes, (int) at, ORDER);
        }
        return ByteVector.fromByteBuffer(species.check(byte.class), bytes, (int) at, ORDER);
    }

    static void store(Vector<?> vector, Object view, long at) {
        vector.intoByteBuffer((ByteBuffer) view, (int) at, ORDER);
    }
}
